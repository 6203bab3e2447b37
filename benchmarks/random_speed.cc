// Makes random tensors and says how long it took: the shardwise side of random_speed.py. One question a line:
//
//   KIND DTYPE ELEMENTS THREADS [TARGET]    KIND: zeros, ones, bits, uniform, normal, truncated_normal, fill0, fill1
//   clock - CYCLES
//
// answered by the seconds that it took to write the tensor, whose memory is there already. TARGET: an instruction set.
#include <hwy/highway.h>

#include <chrono>
#include <cstring>
#include <iostream>
#include <sstream>
#include <thread>

#include "shardwise/initializer.h"

namespace {

using namespace shardwise;

Result<Generator> generator_of(const std::string& kind, const Shape& shape, DType dtype) {
  if (kind == "zeros") return make_generator(zeros(), shape, dtype);
  if (kind == "ones") return make_generator(ones(), shape, dtype);
  random::Distribution of = random::Normal{};
  if (kind == "bits") of = random::Bits{};
  if (kind == "uniform") of = random::Uniform{-0.05, 0.05};
  if (kind == "truncated_normal") of = random::TruncatedNormal{};
  return random::make_generator(keras_key(42), of, shape, dtype);
}

void choose(const std::string& target) {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  const auto all = static_cast<std::uint64_t>(hwy::SupportedTargets());
  for (std::uint64_t left = all; left != 0; left &= left - 1) {
    const auto one = static_cast<std::int64_t>(left & -left);
    if (target == hwy::TargetName(one)) hwy::GetChosenTarget().Update(one);
  }
}

// Seconds of that many additions, each of which waits for the one before: a cycle each.
double seconds_of(std::uint64_t cycles) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < cycles; ++i) {
    asm volatile("" : "+r"(sum));
    ++sum;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

}  // namespace

int main() {
  std::vector<std::byte> memory;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string kind, dtype_name, target;
    std::uint64_t elements = 0;
    std::size_t threads = 1;
    words >> kind >> dtype_name >> elements >> threads >> target;
    if (kind == "clock") {
      std::cout << seconds_of(elements) << std::endl;
      continue;
    }
    choose(target);
    const DType dtype = parse_dtype(dtype_name).value();
    const Shape shape = {static_cast<std::int64_t>(elements)};
    const std::uint64_t width = byte_width(dtype);
    if (memory.size() < elements * width) memory.assign(elements * width, std::byte{1});
    const auto begin = std::chrono::steady_clock::now();
    const bool is_fill = kind.starts_with("fill");
    const Generator generator = generator_of(is_fill ? "zeros" : kind, shape, dtype).value_or_throw();
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        const std::uint64_t from = elements * t / threads;
        const std::span part(memory.data() + from * width, (elements * (t + 1) / threads - from) * width);
        if (is_fill) {
          std::memset(part.data(), kind == "fill1", part.size());
        } else {
          (void)generator.generate_range(from, part).ok();
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::cout << took.count() << std::endl;
  }
}
