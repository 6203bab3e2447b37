#include "checkpoint/safetensors/dtypes.h"

#include <gtest/gtest.h>

namespace shardwise::safetensors {
namespace {

TEST(Dtypes, EveryTypeHasOneNameOrNone) {
  int named = 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string_view name = dtype_name(dtype);
    if (name.empty()) continue;
    ++named;
    EXPECT_EQ(parse_dtype(name), dtype) << name;
  }
  EXPECT_EQ(named, 22);
  EXPECT_EQ(dtype_name(DType::kInt4), "");
  EXPECT_EQ(dtype_name(DType::kComplex128), "");
}

TEST(Dtypes, UnknownNamesAreNone) {
  for (const char* name : {"", "f32", "F32 ", "F8_E4M3FN", "I4", "C128", "float32"}) {
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace shardwise::safetensors
