// Any part, asked for in any way, has the values that it has in the whole.
#include "shardwise/generator.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "random/box_runs.h"
#include "random/random_testing.h"
#include "random/threefry.h"
#include "testing/dispatch_testing.h"

namespace shardwise {
namespace {

using random_testing::range_of;
using random_testing::values;

// Under a sanitizer a round takes seconds, and finds what it finds in the first few.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t kSeeds = 6;
#else
constexpr std::uint32_t kSeeds = 60;
#endif

// Elements of a box, taken out of the whole tensor one index at a time.
std::vector<std::byte> cut(const std::vector<std::byte>& whole, std::size_t width, const Shape& shape, const Box& box) {
  std::vector<std::byte> out;
  for (std::uint64_t i = 0; i < box.elements(); ++i) {
    std::uint64_t index = 0;
    std::uint64_t rest = i;
    std::uint64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(box.extent[d]);
      index += (static_cast<std::uint64_t>(box.origin[d]) + rest % extent) * stride;
      rest /= extent;
      stride *= static_cast<std::uint64_t>(shape[d]);
    }
    const auto from = whole.begin() + static_cast<std::ptrdiff_t>(index * width);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

class Property {
 public:
  explicit Property(std::uint32_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  Shape shape() {
    Shape out(below(5));
    for (std::int64_t& extent : out) extent = static_cast<std::int64_t>(1 + below(below(3) == 0 ? 200 : 12));
    return out;
  }
  Box box(const Shape& shape) {
    Box out{shape, shape};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      out.origin[d] = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(shape[d])));
      const auto left = static_cast<std::uint64_t>(shape[d] - out.origin[d]);
      out.extent[d] = static_cast<std::int64_t>(below(3) == 0 ? left : below(left + 1));
      if (below(4) == 0) out.origin[d] = 0, out.extent[d] = shape[d];
    }
    return out;
  }

 private:
  std::mt19937 engine_;
};

Status write_index(const Shape& shape, DType, const Box& box, std::span<std::byte> out) {
  const BoxRuns runs(shape, box);
  auto* at = out.data();
  return runs.for_each([&](std::uint64_t first) {
    for (std::uint64_t i = 0; i < runs.length(); ++i, at += sizeof(float)) {
      const auto value = static_cast<float>(first + i);
      std::memcpy(at, &value, sizeof(value));
    }
    return Status();
  });
}

std::vector<Generator> generators(const Shape& shape) {
  std::vector<Generator> out;
  const auto add = [&](const random::Distribution& of, DType dtype) {
    out.push_back(random::make_generator({7, 9}, of, shape, dtype, Rounding::kJit).value_or_throw());
  };
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64}) {
    add(random::Uniform{-1, 3}, dtype);
    add(random::Normal{.stddev = 0.3}, dtype);
    add(random::TruncatedNormal{}, dtype);
  }
  for (const DType dtype : {DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64}) {
    add(random::Bits{}, dtype);
    add(random::RandInt{3, 77}, dtype);
  }
  add(random::Bernoulli{0.2}, DType::kBool);
  std::vector<Initializer> initializers = {zeros(), constant(0.3), custom_per_box("index", write_index)};
  if (shape.size() == 2) initializers.push_back(identity(2.5));
  if (shape.size() >= 2) initializers.push_back(orthogonal({.seed = 1}));
  if (shape.size() == 3) initializers.push_back(stft());
  for (const Initializer& initializer : initializers) {
    out.push_back(make_generator(initializer, shape, DType::kFloat32).value_or_throw());
  }
  return out;
}

TEST(Generator, AnyBoxAndAnyRangeOnAnyTarget) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Property property(seed);
    const Shape shape = property.shape();
    for (const Generator& generator : generators(shape)) {
      const std::size_t width = byte_width(generator.dtype());
      const std::uint64_t elements = Box::whole(shape).elements();
      std::vector<std::byte> whole(elements * width);
      ASSERT_TRUE(generator.generate(Box::whole(shape), whole).ok());
      for (int part = 0; part < 4; ++part) {
        const dispatch_testing::RandomTarget target(property.below(1000));
        const Box box = property.box(shape);
        std::vector<std::byte> made(box.elements() * width);
        ASSERT_TRUE(generator.generate(box, made).ok());
        ASSERT_EQ(made, cut(whole, width, shape, box)) << to_string(box) << " of " << to_string(shape);
        const std::uint64_t first = property.below(elements);
        std::vector<std::byte> run(property.below(elements - first + 1) * width);
        ASSERT_TRUE(generator.generate_range(first, run).ok());
        ASSERT_TRUE(std::equal(run.begin(), run.end(), whole.begin() + static_cast<std::ptrdiff_t>(first * width)));
      }
    }
  }
}

TEST(Generator, AnyNumberOfThreads) {
  const Shape shape = {257, 1031};
  const Generator generator = make_generator(glorot_normal({.seed = 3}), shape, DType::kFloat32).value_or_throw();
  const auto whole = values<float>(generator);
  for (std::size_t count = 1; count <= 8; ++count) {
    std::vector<float> made(whole.size());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        const std::size_t begin = whole.size() * t / count;
        const std::span part(made.data() + begin, whole.size() * (t + 1) / count - begin);
        EXPECT_TRUE(generator.generate_range(begin, std::as_writable_bytes(part)).ok());
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(made, whole) << count << " threads";
  }
}

TEST(Generator, IndicesBeyond32BitsNeedNoMemory) {
  const Shape shape = {3, (std::int64_t{1} << 33) + 5, 7};
  const RandomKey key = {11, 12};
  const Generator bits = random::make_generator(key, random::Bits{}, shape, DType::kUint32).value_or_throw();
  const std::uint64_t first = (std::uint64_t{1} << 32) - 777;
  const auto run = range_of<std::uint32_t>(bits, first, 5000);
  for (std::size_t i = 0; i < run.size(); ++i) ASSERT_EQ(run[i], stream_bits32(key, first + i));

  const Box corner{{2, (std::int64_t{1} << 33) - 1, 3}, {1, 6, 4}};
  std::vector<std::uint32_t> made(24);
  ASSERT_TRUE(bits.generate(corner, std::as_writable_bytes(std::span(made))).ok());
  for (std::uint64_t i = 0; i < made.size(); ++i) {
    const std::uint64_t row = 2 * ((std::uint64_t{1} << 33) + 5) + (std::uint64_t{1} << 33) - 1 + i / 4;
    ASSERT_EQ(made[i], stream_bits32(key, row * 7 + 3 + i % 4));
  }
}

}  // namespace
}  // namespace shardwise
