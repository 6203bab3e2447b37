#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/checked.h"
#include "base/format.h"
#include "shardwise/bytes.h"
#include "shardwise/dtype.h"
#include "shardwise/shape.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using testing::Eq;

TEST(Status, SaysCodeAndMessageAndTakesContext) {
  EXPECT_EQ(Status().to_string(), "OK");
  const Status status = data_loss("ends at {}", 7);
  EXPECT_EQ(status.to_string(), "DATA_LOSS: ends at 7");
  EXPECT_EQ(status.with_context("a.safetensors").message(), "a.safetensors: ends at 7");
  EXPECT_TRUE(Status().with_context("x").ok());
}

Result<int> half(int n) {
  if (n % 2 != 0) return invalid_argument("{} is odd", n);
  return n / 2;
}
Result<int> quarter(int n) {
  SHARDWISE_ASSIGN_OR_RETURN(const int h, half(n));
  return half(h);
}

TEST(Result, CarriesAValueOrTheReason) {
  EXPECT_THAT(quarter(8), IsOkAnd(Eq(2)));
  EXPECT_THAT(quarter(6), FailsWith(Code::kInvalidArgument, "3 is odd"));
  EXPECT_EQ(half(8).value_or_throw(), 4);
  EXPECT_THROW((void)half(7).value_or_throw(), std::runtime_error);
}

TEST(Bytes, FormatsWithThreeDigits) {
  const std::pair<std::uint64_t, const char*> cases[] = {
      {0, "0 B"},           {1023, "1023 B"},   {1024, "1 KiB"},
      {1536, "1.5 KiB"},    {24_MiB, "24 MiB"}, {49'152'000, "46.9 MiB"},
      {1'048'575, "1 MiB"}, {2_GiB, "2 GiB"},   {~0ull, "16 EiB"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(format_bytes(bytes), text);
}

TEST(Bytes, ParsesWhatPeopleWrite) {
  const std::pair<const char*, std::uint64_t> good[] = {
      {"4096", 4096},         {"4096B", 4096},    {"96MiB", 96_MiB},  {"1.5GiB", 1536_MiB},
      {"2GB", 2'000'000'000}, {"64M", 64_MiB},    {"64 MiB", 64_MiB}, {"0", 0},
      {"8kib", 8_KiB},        {"1TiB", 1024_GiB}, {"10KB", 10'000},   {".5KiB", 512}};
  for (const auto& [text, bytes] : good) EXPECT_THAT(parse_bytes(text), IsOkAnd(Eq(bytes))) << text;
  for (const char* bad :
       {"", "MiB", "-1", "-0", "1XiB", "1 2", "99999999999GiB", "1e3", "nan", "inf", "1MiB MiB", "0x10"}) {
    EXPECT_THAT(parse_bytes(bad), FailsWith(Code::kInvalidArgument, "is not a size")) << bad;
  }
}

TEST(DType, NamesAndWidthsRoundTrip) {
  std::set<std::string_view> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    names.insert(to_string(dtype));
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kDTypeCount));
  EXPECT_EQ(parse_dtype("float31"), std::nullopt);
  EXPECT_EQ(byte_width(DType::kComplex128), 16u);
  EXPECT_FALSE(is_byte_sized(DType::kFloat6E2m3fn));
}

TEST(DType, CastsAreThoseOfTheContract) {
  for (const DType a : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBfloat16}) {
    for (const DType b : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBfloat16})
      EXPECT_TRUE(can_cast(a, b));
    EXPECT_FALSE(can_cast(a, DType::kInt32));
    EXPECT_FALSE(can_cast(DType::kInt32, a));
    EXPECT_FALSE(can_cast(a, DType::kFloat8E4m3fn));
  }
  EXPECT_TRUE(can_cast(DType::kUint64, DType::kInt8));
  EXPECT_TRUE(can_cast(DType::kBool, DType::kInt32));
  EXPECT_FALSE(can_cast(DType::kInt32, DType::kBool));
  EXPECT_FALSE(can_cast(DType::kInt4, DType::kInt8));
  EXPECT_TRUE(can_cast(DType::kInt4, DType::kInt4));
}

TEST(Shape, CountsWithoutWrapping) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(element_count({}), IsOkAnd(Eq(1u)));
  EXPECT_THAT(element_count({3, 0, 5}), IsOkAnd(Eq(0u)));
  EXPECT_THAT(element_count({kMost}), IsOkAnd(Eq(static_cast<std::uint64_t>(kMost))));
  EXPECT_THAT(element_count({2, kMost}), FailsWith(Code::kInvalidArgument, "2^63"));
  EXPECT_THAT(element_count({0, kMost, kMost}), FailsWith(Code::kInvalidArgument, "2^63"));
  EXPECT_THAT(element_count({-1}), FailsWith(Code::kInvalidArgument, "negative"));
  EXPECT_THAT(element_count(Shape(65, 1)), FailsWith(Code::kInvalidArgument, "rank 65"));
  EXPECT_THAT(byte_count({kMost}, DType::kFloat32), FailsWith(Code::kInvalidArgument, "too many"));
  EXPECT_THAT(byte_count({3}, DType::kFloat4E2m1fn), FailsWith(Code::kInvalidArgument, "whole bytes"));
  EXPECT_THAT(byte_count({4}, DType::kFloat6E2m3fn), IsOkAnd(Eq(3u)));
}

TEST(Box, FitsIntersectsAndPrints) {
  const Box box{{1, 2}, {3, 4}};
  EXPECT_EQ(to_string(box), "[1:4, 2:6]");
  EXPECT_TRUE(fits(box, {4, 6}));
  EXPECT_FALSE(fits(box, {4, 5}));
  EXPECT_FALSE(fits(box, {4}));
  EXPECT_FALSE(fits(Box{{std::numeric_limits<std::int64_t>::max()}, {1}}, {5}));
  EXPECT_EQ(intersect(box, Box{{2, 0}, {9, 3}}), (Box{{2, 2}, {2, 1}}));
  EXPECT_EQ(intersect(box, Box{{7, 0}, {1, 1}}).elements(), 0u);
}

TEST(Printable, EscapesAndCuts) {
  EXPECT_EQ(printable(std::string_view("a\0b\n", 4)), "a\\x00b\\x0a");
  EXPECT_THAT(printable(std::string(300, 'x')), testing::EndsWith("... (300 bytes)"));
}

TEST(Checked, KnowsWhenItWraps) {
  EXPECT_EQ(checked_add<std::uint64_t>(~0ull, 1), std::nullopt);
  EXPECT_EQ(checked_mul<std::int64_t>(1ll << 62, 2), std::nullopt);
  EXPECT_EQ(checked_add<std::uint64_t>(2, 3), 5u);
  EXPECT_EQ(round_up(4097, 4096), 8192u);
  EXPECT_EQ(round_down(4097, 4096), 4096u);
  EXPECT_EQ(ceil_div(~0ull, 2), 1ull << 63);
}

}  // namespace
}  // namespace shardwise
