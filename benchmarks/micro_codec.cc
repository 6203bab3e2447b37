// Speed of the codec room as a share of copying the same bytes: "of_copy" is the time of memcpy, measured in turns with
// the operation, divided by the operation's. Both write to memory that the caches do not hold, as a load does. Times
// are of the thread, so that other work on the machine weighs less.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "codec/filters.h"
#include "codec/strided_copy.h"
#include "shardwise/fingerprint.h"

namespace shardwise {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Anonymous memory in huge pages, touched. Owns it.
class Memory {
 public:
  explicit Memory(std::size_t size) : size_(size), mapped_(size + 2 * kMiB) {
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) std::abort();
    const auto address = reinterpret_cast<std::uintptr_t>(base_);
    data_ = reinterpret_cast<std::byte*>((address + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB));
    madvise(data_, size_, MADV_HUGEPAGE);
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i + 8 <= size_; i += 8) {
      // Numbers of moderate size in every float type, so that conversions meet the usual.
      const std::uint64_t value = (random() & 0x807f807f807f807fu) | 0x3f003f003f003f00u;
      std::memcpy(data_ + i, &value, 8);
    }
  }
  Memory(const Memory&) = delete;
  ~Memory() { munmap(base_, mapped_); }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::size_t mapped_;
  void* base_;
  std::byte* data_;
};

Memory& large(int which) {
  static Memory memories[2] = {Memory(256 * kMiB), Memory(256 * kMiB)};
  return memories[which];
}

// Runs `operation` and `copy` in turns of eight and reports both; `bytes` is what one operation writes.
void compare(benchmark::State& state, std::size_t bytes, const std::function<void(std::size_t)>& operation,
             const std::function<void(std::size_t)>& copy) {
  constexpr std::size_t kTurns = 8;
  large(0);
  large(1);
  operation(0);
  double operation_seconds = 0;
  double copy_seconds = 0;
  std::size_t turn = 0;
  for (auto _ : state) {
    const double start = thread_seconds();
    for (std::size_t i = 0; i < kTurns; ++i) operation(turn + i);
    const double middle = thread_seconds();
    for (std::size_t i = 0; i < kTurns; ++i) copy(turn + i);
    const double end = thread_seconds();
    operation_seconds += middle - start;
    copy_seconds += end - middle;
    state.SetIterationTime(middle - start);
    turn += kTurns;
  }
  state.counters["of_copy"] = copy_seconds / operation_seconds;
  state.counters["GB/s"] = 1e-9 * static_cast<double>(bytes * turn) / operation_seconds;
  state.counters["copy_GB/s"] = 1e-9 * static_cast<double>(bytes * turn) / copy_seconds;
}

// Place number `turn` of `size` bytes in a large memory, round and round.
std::byte* place(int which, std::size_t turn, std::size_t size) {
  return large(which).data() + turn % (large(which).size() / size) * size;
}

void check(const Status& status) {
  if (!status.ok()) std::abort();
}

// A block of 1 MiB of rows, as the loader has it in its staging memory, scattered to eight column shards.
void scatter(const std::byte* block, std::size_t run, std::size_t turn) {
  const std::size_t rows = kMiB / (8 * run);
  for (std::size_t shard = 0; shard < 8; ++shard) {
    const CopyDim dims[] = {{rows, static_cast<std::int64_t>(run / 4 * 8), static_cast<std::int64_t>(run / 4)},
                            {run / 4, 1, 1}};
    std::byte* target = large(0).data() + shard * 32 * kMiB + turn % 256 * (kMiB / 8);
    check(strided_copy(dims, block + shard * run, DType::kFloat32, target, DType::kFloat32));
  }
}

void BM_ColumnScatter(benchmark::State& state) {
  const Memory block(kMiB);
  compare(
      state, kMiB, [&](std::size_t turn) { scatter(block.data(), static_cast<std::size_t>(state.range(0)), turn); },
      [&](std::size_t turn) { std::memcpy(place(1, turn, kMiB), block.data(), kMiB); });
}
BENCHMARK(BM_ColumnScatter)->Arg(64)->Arg(96)->Arg(256)->Arg(512)->Arg(1024)->Arg(4096)->Arg(16384)->UseManualTime();

// The whole path of a warm load: read a block from the page cache, take its fingerprint, scatter it; against reading
// the same bytes straight to where they belong. range(1) asks for fingerprints.
void BM_ReadAndScatter(benchmark::State& state) {
  const int file = memfd_create("block", 0);
  if (ftruncate(file, 64 * kMiB) != 0) std::abort();
  for (std::size_t i = 0; i < 64; ++i) {
    if (pwrite(file, place(1, i, kMiB), kMiB, static_cast<off_t>(i * kMiB)) < 0) std::abort();
  }
  const Memory staging(kMiB);

  const auto read = [&](std::byte* target, std::size_t turn) {
    if (pread(file, target, kMiB, static_cast<off_t>(turn % 64 * kMiB)) != kMiB) std::abort();
  };
  FingerprintSum sum;
  compare(
      state, kMiB,
      [&](std::size_t turn) {
        read(staging.data(), turn);
        if (state.range(1) != 0) sum.add(turn * (kMiB / 4), {staging.data(), kMiB}, 4);
        scatter(staging.data(), static_cast<std::size_t>(state.range(0)), turn);
      },
      [&](std::size_t turn) { read(place(1, turn, kMiB), turn); });
  benchmark::DoNotOptimize(sum.sum());
  close(file);
}
BENCHMARK(BM_ReadAndScatter)->ArgsProduct({{512, 4096, 16384}, {0, 1}})->UseManualTime();

// A transposed copy of a 4096 x 4096 matrix in strips of 1 MiB of its rows.
void BM_Transpose(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  const std::size_t width = byte_width(dtype);
  const std::size_t rows = kMiB / (4096 * width);
  const std::size_t strips = 4096 / rows;
  const Memory block(kMiB);
  compare(
      state, kMiB,
      [&](std::size_t turn) {
        const CopyDim dims[] = {{rows, 4096, 1}, {4096, 1, 4096}};
        check(strided_copy(dims, block.data(), dtype, large(0).data() + turn % strips * rows * width, dtype));
      },
      [&](std::size_t turn) { std::memcpy(place(1, turn, kMiB), block.data(), kMiB); });
}
BENCHMARK(BM_Transpose)
    ->ArgName("dtype")
    ->Arg(static_cast<int>(DType::kUint8))
    ->Arg(static_cast<int>(DType::kBfloat16))
    ->Arg(static_cast<int>(DType::kFloat32))
    ->Arg(static_cast<int>(DType::kFloat64))
    ->UseManualTime();

// The same from memory to memory, at once.
void BM_TransposeWhole(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  const std::size_t bytes = 4096 * 4096 * byte_width(dtype);
  compare(
      state, bytes,
      [&](std::size_t) {
        const CopyDim dims[] = {{4096, 4096, 1}, {4096, 1, 4096}};
        check(strided_copy(dims, large(1).data(), dtype, large(0).data(), dtype));
      },
      [&](std::size_t) { std::memcpy(large(0).data(), large(1).data(), bytes); });
}
BENCHMARK(BM_TransposeWhole)
    ->ArgName("dtype")
    ->Arg(static_cast<int>(DType::kBfloat16))
    ->Arg(static_cast<int>(DType::kFloat32))
    ->UseManualTime();

// A contiguous run of 1 MiB that converts; copied for comparison: as many bytes as are written.
void BM_Cast(benchmark::State& state) {
  const auto from = static_cast<DType>(state.range(0));
  const auto to = static_cast<DType>(state.range(1));
  const std::size_t count = kMiB / byte_width(from);
  const std::size_t written = count * byte_width(to);
  const Memory block(kMiB);
  const Memory wide(written);
  compare(
      state, written,
      [&](std::size_t turn) {
        const CopyDim dims[] = {{count, 1, 1}};
        check(strided_copy(dims, block.data(), from, place(0, turn, written), to));
      },
      [&](std::size_t turn) { std::memcpy(place(1, turn, written), wide.data(), written); });
  state.SetLabel(std::string(to_string(from)) + " to " + std::string(to_string(to)));
}
void cast_pairs(benchmark::internal::Benchmark* b) {
  constexpr DType kFloats[] = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBfloat16};
  for (const DType from : kFloats) {
    for (const DType to : kFloats) {
      if (from != to) b->Args({static_cast<int>(from), static_cast<int>(to)});
    }
  }
  b->Args({static_cast<int>(DType::kUint32), static_cast<int>(DType::kInt64)});
  b->Args({static_cast<int>(DType::kUint8), static_cast<int>(DType::kInt32)});
}
BENCHMARK(BM_Cast)->Apply(cast_pairs)->UseManualTime();

// Fingerprint of a block in the caches, against copying it.
void BM_Fingerprint(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const Memory block(size);
  FingerprintSum sum;
  compare(
      state, size,
      [&](std::size_t turn) {
        sum.add(turn, {block.data(), size}, 4);
      },
      [&](std::size_t turn) { std::memcpy(place(1, turn, size), block.data(), size); });
  benchmark::DoNotOptimize(sum.sum());
}
BENCHMARK(BM_Fingerprint)->Arg(512)->Arg(16384)->Arg(256 << 10)->Arg(1 << 20)->Arg(64 << 20)->UseManualTime();

// A chunk of 1 MiB of float32 with ten random bits each: shuffled and deflated, decoded. range(0): with checksum.
void BM_DecodeBlock(benchmark::State& state) {
  Memory block(kMiB);
  std::vector<std::byte> shuffled(kMiB);
  for (std::size_t i = 0; i < kMiB; ++i)
    shuffled[i % 4 * (kMiB / 4) + i / 4] = i % 4 < 2 ? std::byte{0} : block.data()[i];
  uLongf size = compressBound(kMiB);
  std::vector<std::byte> stored(size);
  compress2(reinterpret_cast<Bytef*>(stored.data()), &size, reinterpret_cast<const Bytef*>(shuffled.data()), kMiB, 4);
  stored.resize(size);
  const FilterStep steps[] = {{FilterStep::Kind::kShuffle, 4}, {FilterStep::Kind::kDeflate, 0}};
  std::vector<std::byte> scratch(filter_scratch_bytes(steps, 0, kMiB));
  compare(
      state, kMiB,
      [&](std::size_t turn) {
        check(decode_block(steps, 0, stored, {place(0, turn, kMiB), kMiB}, scratch));
      },
      [&](std::size_t turn) { std::memcpy(place(1, turn, kMiB), block.data(), kMiB); });
}
BENCHMARK(BM_DecodeBlock)->UseManualTime();

void BM_Unshuffle(benchmark::State& state) {
  const Memory block(kMiB);
  const FilterStep steps[] = {{FilterStep::Kind::kShuffle, static_cast<std::uint32_t>(state.range(0))}};
  compare(
      state, kMiB,
      [&](std::size_t turn) {
        check(decode_block(steps, 0, {block.data(), kMiB}, {place(0, turn, kMiB), kMiB}, {}));
      },
      [&](std::size_t turn) { std::memcpy(place(1, turn, kMiB), block.data(), kMiB); });
}
BENCHMARK(BM_Unshuffle)->Arg(2)->Arg(4)->Arg(8)->UseManualTime();

void BM_Fletcher32(benchmark::State& state) {
  const Memory block(kMiB);
  std::uint32_t sum = 0;
  compare(
      state, kMiB,
      [&](std::size_t) {
        sum += fletcher32({block.data(), kMiB});
      },
      [&](std::size_t turn) { std::memcpy(place(1, turn, kMiB), block.data(), kMiB); });
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_Fletcher32)->UseManualTime();

}  // namespace
}  // namespace shardwise
