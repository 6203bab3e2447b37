#include "codec/strided_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/float_bits.h"
#include "testing/dispatch_testing.h"

namespace shardwise {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// One element, converted by the definition in float_bits.h or, for integers, through 128 bits; copied when equal.
template <typename F>
std::uint64_t load(const std::byte* p) {
  typename F::Bits bits;
  std::memcpy(&bits, p, sizeof(bits));
  return bits;
}
template <typename From, typename To>
void convert_one(const std::byte* source, std::byte* target) {
  const auto bits = float_bits::convert<From, To>(static_cast<typename From::Bits>(load<From>(source)));
  std::memcpy(target, &bits, sizeof(bits));
}
template <typename From>
void convert_float(const std::byte* source, std::byte* target, DType to) {
  switch (to) {
    case DType::kFloat64:
      return convert_one<From, float_bits::F64>(source, target);
    case DType::kFloat32:
      return convert_one<From, float_bits::F32>(source, target);
    case DType::kFloat16:
      return convert_one<From, float_bits::F16>(source, target);
    default:
      return convert_one<From, float_bits::Bf16>(source, target);
  }
}
void convert_element(const std::byte* source, DType from, std::byte* target, DType to) {
  if (from == to) {
    std::memcpy(target, source, byte_width(from));
    return;
  }
  switch (from) {
    case DType::kFloat64:
      return convert_float<float_bits::F64>(source, target, to);
    case DType::kFloat32:
      return convert_float<float_bits::F32>(source, target, to);
    case DType::kFloat16:
      return convert_float<float_bits::F16>(source, target, to);
    case DType::kBfloat16:
      return convert_float<float_bits::Bf16>(source, target, to);
    default:
      break;
  }
  std::int64_t value = 0;  // the tests below use integers that fit everywhere
  std::memcpy(&value, source, byte_width(from));
  if (from == DType::kBool) value = value != 0;
  std::memcpy(target, &value, byte_width(to));
}

// What strided_copy should do, one element at a time.
void naive_copy(std::span<const CopyDim> dims, const std::byte* source, DType from, std::byte* target, DType to) {
  if (dims.empty()) return convert_element(source, from, target, to);
  const auto from_width = static_cast<std::int64_t>(byte_width(from));
  const auto to_width = static_cast<std::int64_t>(byte_width(to));
  for (std::uint64_t i = 0; i < dims[0].extent; ++i) {
    const auto step = static_cast<std::int64_t>(i);
    naive_copy(dims.subspan(1), source + step * dims[0].source_stride * from_width, from,
               target + step * dims[0].target_stride * to_width, to);
  }
}

// Random dims over two row-major arrays whose axes are permuted against each other, with slices and steps.
struct Layout {
  std::vector<CopyDim> dims;
  std::size_t source_elements = 1;
  std::size_t target_elements = 1;
  std::int64_t source_start = 0;
  std::int64_t target_start = 0;
};

class LayoutMaker {
 public:
  explicit LayoutMaker(std::mt19937_64& random) : random_(random) {}

  Layout make(std::size_t rank, std::size_t max_elements) {
    Layout layout;
    layout.dims.resize(rank);
    std::size_t left = max_elements;
    for (CopyDim& dim : layout.dims) {
      dim.extent = extent(left);
      left /= std::max<std::size_t>(1, dim.extent);
    }
    stride(layout.dims, &CopyDim::source_stride, layout.source_elements, layout.source_start, below(4) == 0);
    stride(layout.dims, &CopyDim::target_stride, layout.target_elements, layout.target_start, false);
    std::shuffle(layout.dims.begin(), layout.dims.end(), random_);
    return layout;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  std::uint64_t extent(std::size_t left) {
    static constexpr std::uint64_t kUsual[] = {1,  2,  3,  4,  7,   8,   15,  16,  17,  31,
                                               32, 33, 64, 65, 100, 129, 256, 300, 1030};
    if (below(60) == 0) return 0;
    for (int tries = 0; tries < 4; ++tries) {
      const std::uint64_t pick = kUsual[below(std::size(kUsual))];
      if (pick <= left) return pick;
    }
    return 1;
  }

  // Strides of a row-major array over the axes in random order, each axis padded and possibly stepped or reversed.
  void stride(std::vector<CopyDim>& dims, std::int64_t CopyDim::*member, std::size_t& elements, std::int64_t& start,
              bool may_broadcast) {
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (below(3) != 0) std::shuffle(order.begin(), order.end(), random_);
    const bool odd = below(3) == 0;
    std::int64_t size = 1;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      CopyDim& dim = dims[*axis];
      const auto extent = static_cast<std::int64_t>(std::max<std::uint64_t>(1, dim.extent));
      if (may_broadcast && below(4) == 0) {
        dim.*member = 0;
        continue;
      }
      const std::int64_t step = odd && below(3) == 0 ? 1 + static_cast<std::int64_t>(below(3)) : 1;
      dim.*member = size * step;
      if (odd && below(4) == 0) {
        start += dim.*member * (extent - 1);
        dim.*member = -(dim.*member);
      }
      const std::int64_t padding = odd && below(2) == 0 ? static_cast<std::int64_t>(below(5)) : 0;
      size *= extent * step + padding;
    }
    elements = static_cast<std::size_t>(size);
  }

  std::mt19937_64& random_;
};

void fill_source(Bytes& source, DType from, DType to, std::mt19937_64& random) {
  source = random_bytes(source.size(), random);
  if (from == to || kind(from) == DTypeKind::kFloat) return;
  const std::uint64_t width = byte_width(from);
  for (std::size_t i = 0; i + width <= source.size(); i += width) {
    const std::uint64_t value = random() % 128;
    std::memcpy(source.data() + i, &value, width);
  }
}

void expect_copied_as_defined(const Layout& layout, DType from, DType to, std::mt19937_64& random) {
  const std::size_t skew_in = random() % 3;
  const std::size_t skew_out = random() % 3;
  Bytes source(layout.source_elements * byte_width(from) + 8);
  fill_source(source, from, to, random);
  Bytes skewed(source.size() + skew_in);
  std::copy(source.begin(), source.end(), skewed.begin() + static_cast<std::ptrdiff_t>(skew_in));
  const Bytes before = random_bytes(layout.target_elements * byte_width(to) + 16, random);
  Bytes expected = before;
  Bytes actual = before;
  const std::byte* in = skewed.data() + skew_in + layout.source_start * static_cast<std::int64_t>(byte_width(from));
  const std::int64_t out =
      static_cast<std::int64_t>(skew_out) + layout.target_start * static_cast<std::int64_t>(byte_width(to));
  naive_copy(layout.dims, in, from, expected.data() + out, to);
  const dispatch_testing::RandomTarget target(random());
  const Status status = strided_copy(layout.dims, in, from, actual.data() + out, to);
  ASSERT_TRUE(status.ok()) << status.to_string();
  std::string text;
  for (const CopyDim& d : layout.dims) {
    text +=
        std::to_string(d.extent) + ":" + std::to_string(d.source_stride) + ">" + std::to_string(d.target_stride) + " ";
  }
  ASSERT_EQ(actual, expected) << text << to_string(from) << "->" << to_string(to);
}

constexpr DType kMoved[] = {DType::kInt8,       DType::kBfloat16, DType::kFloat32,     DType::kFloat64,
                            DType::kComplex128, DType::kBool,     DType::kFloat8E4m3fn};

TEST(StridedCopy, MovesAnyLayoutAsOneElementAtATimeWould) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Layout layout = LayoutMaker(random).make(random() % 8, std::size_t{1} << (random() % 15));
    const DType dtype = kMoved[random() % std::size(kMoved)];
    ASSERT_NO_FATAL_FAILURE(expect_copied_as_defined(layout, dtype, dtype, random)) << i;
  }
}

TEST(StridedCopy, ConvertsAnyLayoutAsOneElementAtATimeWould) {
  std::mt19937_64 random(2);
  constexpr DType kFloats[] = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBfloat16};
  constexpr DType kIntegers[] = {DType::kBool,  DType::kInt8,   DType::kInt16,  DType::kInt32, DType::kInt64,
                                 DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
  for (int i = 0; i < 1500; ++i) {
    const Layout layout = LayoutMaker(random).make(random() % 8, std::size_t{1} << (random() % 14));
    const bool floats = random() % 3 != 0;
    const DType from = floats ? kFloats[random() % 4] : kIntegers[random() % 9];
    const DType to = floats ? kFloats[random() % 4] : kIntegers[1 + random() % 8];
    ASSERT_NO_FATAL_FAILURE(expect_copied_as_defined(layout, from, to, random)) << i;
  }
}

// Large enough for stores past the caches, and for more than one tile in each direction.
TEST(StridedCopy, CopiesLargeLayoutsToo) {
  std::mt19937_64 random(3);
  constexpr DType kFloats[] = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBfloat16};
  for (int i = 0; i < 60; ++i) {
    Layout layout;
    while (layout.source_elements < 30000 || layout.source_elements > 3000000 || layout.target_elements > 3000000) {
      layout = LayoutMaker(random).make(1 + random() % 4, std::size_t{1} << 18);
    }
    const DType from = i % 2 == 0 ? kMoved[random() % std::size(kMoved)] : kFloats[random() % 4];
    const DType to = i % 2 == 0 ? from : kFloats[random() % 4];
    ASSERT_NO_FATAL_FAILURE(expect_copied_as_defined(layout, from, to, random)) << i;
  }
}

// Runs of every size up to several lines, at every alignment within one, from rows to rows and to one run.
TEST(StridedCopy, CopiesRowsOfAnySize) {
  std::mt19937_64 random(4);
  for (std::uint64_t run = 1; run <= 600; run += 1 + run / 16) {
    const std::uint64_t rows = 40000 / run;
    for (const std::uint64_t step : {run, run + 3, (run + 63) / 64 * 64}) {
      Layout layout;
      layout.dims = {{rows, static_cast<std::int64_t>(run + 1 + random() % 200), static_cast<std::int64_t>(step)},
                     {run, 1, 1}};
      layout.source_elements = rows * static_cast<std::uint64_t>(layout.dims[0].source_stride);
      layout.target_elements = rows * step + 64;
      layout.target_start = static_cast<std::int64_t>(random() % 64);
      ASSERT_NO_FATAL_FAILURE(expect_copied_as_defined(layout, DType::kUint8, DType::kUint8, random));
    }
  }
}

TEST(StridedCopy, CopiesAScalarAndNothingOfAnEmptyBox) {
  const float source = 2.5f;
  float target = 0;
  ASSERT_TRUE(strided_copy({}, reinterpret_cast<const std::byte*>(&source), DType::kFloat32,
                           reinterpret_cast<std::byte*>(&target), DType::kFloat32)
                  .ok());
  EXPECT_EQ(target, 2.5f);
  const CopyDim dims[] = {{5, 1, 1}, {0, 7, 7}};
  ASSERT_TRUE(strided_copy(dims, nullptr, DType::kFloat32, nullptr, DType::kBfloat16).ok());
}

TEST(StridedCopy, SixtyThreeDimensionsOfWhichFewHaveElements) {
  std::vector<CopyDim> dims(100, CopyDim{1, 12345, -9});
  dims[3] = {2, 3, 1};
  dims[70] = {3, 1, 2};
  const std::uint8_t source[] = {0, 1, 2, 3, 4, 5};
  std::uint8_t target[6] = {};
  ASSERT_TRUE(strided_copy(dims, reinterpret_cast<const std::byte*>(source), DType::kUint8,
                           reinterpret_cast<std::byte*>(target), DType::kUint8)
                  .ok());
  EXPECT_THAT(target, ::testing::ElementsAre(0, 3, 1, 4, 2, 5));
}

Status cast(std::int64_t value, DType from, DType to) {
  std::byte out[8];
  return strided_copy({}, reinterpret_cast<const std::byte*>(&value), from, out, to);
}

TEST(StridedCopy, RefusesAnIntegerThatDoesNotFitAndNamesIt) {
  const Status status = cast(-3, DType::kInt32, DType::kUint8);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("value -3 of type int32 does not fit uint8"));
  EXPECT_FALSE(cast(128, DType::kUint8, DType::kInt8).ok());
  EXPECT_FALSE(cast(-1, DType::kInt64, DType::kUint64).ok());
  EXPECT_THAT(cast(-1, DType::kUint64, DType::kInt64).message(), HasSubstr("18446744073709551615"));
  EXPECT_FALSE(cast(32768, DType::kInt32, DType::kInt16).ok());
  EXPECT_TRUE(cast(-32768, DType::kInt32, DType::kInt16).ok());
  EXPECT_TRUE(cast(255, DType::kInt64, DType::kUint8).ok());
}

TEST(StridedCopy, FindsTheOneIntegerThatDoesNotFitInAnyPlace) {
  for (std::size_t bad : {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{100}, std::size_t{199}}) {
    std::vector<std::int32_t> source(200, 7);
    source[bad] = 1000 + static_cast<std::int32_t>(bad);
    std::vector<std::int8_t> target(200);
    for (const CopyDim& dim : {CopyDim{200, 1, 1}, CopyDim{100, 2, 2}, CopyDim{100, 2, 1}}) {
      if (bad % 2 != 0 && dim.extent == 100) continue;
      const Status status = strided_copy({&dim, 1}, reinterpret_cast<const std::byte*>(source.data()), DType::kInt32,
                                         reinterpret_cast<std::byte*>(target.data()), DType::kInt8);
      EXPECT_THAT(status.message(), HasSubstr("value " + std::to_string(source[bad]) + " "));
    }
  }
}

TEST(StridedCopy, RefusesPairsThatCannotBeConverted) {
  EXPECT_EQ(cast(0, DType::kFloat32, DType::kInt32).code(), Code::kInvalidArgument);
  EXPECT_EQ(cast(0, DType::kInt32, DType::kFloat32).code(), Code::kInvalidArgument);
  EXPECT_EQ(cast(0, DType::kFloat8E4m3fn, DType::kFloat32).code(), Code::kInvalidArgument);
  EXPECT_EQ(cast(0, DType::kInt4, DType::kInt4).code(), Code::kInvalidArgument);
}

TEST(FillElements, RepeatsAnElementOfAnyWidth) {
  std::mt19937_64 random(3);
  for (std::size_t width : {1u, 2u, 3u, 4u, 8u, 16u}) {
    for (std::size_t count : {0u, 1u, 2u, 5u, 1000u, 100001u}) {
      const Bytes element = random_bytes(width, random);
      Bytes target(width * count + 1, std::byte{0xee});
      fill_elements(target.data(), count, element);
      for (std::size_t i = 0; i < width * count; ++i) ASSERT_EQ(target[i], element[i % width]) << i;
      ASSERT_EQ(target.back(), std::byte{0xee});
    }
  }
}

}  // namespace
}  // namespace shardwise
