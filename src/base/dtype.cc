#include "shardwise/dtype.h"

#include <array>

namespace shardwise {
namespace {

struct Row {
  std::string_view name;
  int bits;
  DTypeKind kind;
};
using enum DTypeKind;
// In the order of DType.
constexpr std::array<Row, kDTypeCount> kTable = {{
    {"bool", 8, kBool},
    {"int8", 8, kSigned},
    {"int16", 16, kSigned},
    {"int32", 32, kSigned},
    {"int64", 64, kSigned},
    {"uint8", 8, kUnsigned},
    {"uint16", 16, kUnsigned},
    {"uint32", 32, kUnsigned},
    {"uint64", 64, kUnsigned},
    {"float16", 16, kFloat},
    {"bfloat16", 16, kFloat},
    {"float32", 32, kFloat},
    {"float64", 64, kFloat},
    {"complex64", 64, kComplex},
    {"complex128", 128, kComplex},
    {"float8_e4m3fn", 8, kFloat},
    {"float8_e5m2", 8, kFloat},
    {"float8_e4m3fnuz", 8, kFloat},
    {"float8_e5m2fnuz", 8, kFloat},
    {"float8_e8m0fnu", 8, kFloat},
    {"int4", 4, kSigned},
    {"uint4", 4, kUnsigned},
    {"float4_e2m1fn", 4, kFloat},
    {"float6_e2m3fn", 6, kFloat},
    {"float6_e3m2fn", 6, kFloat},
}};

const Row& row(DType dtype) { return kTable[static_cast<std::size_t>(dtype)]; }

}  // namespace

int bit_width(DType dtype) { return row(dtype).bits; }
std::string_view to_string(DType dtype) { return row(dtype).name; }
DTypeKind kind(DType dtype) { return row(dtype).kind; }

bool can_cast(DType from, DType to) {
  if (from == to) return true;
  const auto wide_float = [](DType d) { return kind(d) == kFloat && bit_width(d) >= 16; };
  const auto whole = [](DType d) { return (kind(d) == kSigned || kind(d) == kUnsigned) && is_byte_sized(d); };
  return (wide_float(from) && wide_float(to)) || ((whole(from) || from == DType::kBool) && whole(to));
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace shardwise
