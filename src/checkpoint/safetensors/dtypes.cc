#include "checkpoint/safetensors/dtypes.h"

#include <array>
#include <utility>

namespace shardwise::safetensors {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 22> kNames = {{
    {"BOOL", DType::kBool},
    {"I8", DType::kInt8},
    {"I16", DType::kInt16},
    {"I32", DType::kInt32},
    {"I64", DType::kInt64},
    {"U8", DType::kUint8},
    {"U16", DType::kUint16},
    {"U32", DType::kUint32},
    {"U64", DType::kUint64},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBfloat16},
    {"F32", DType::kFloat32},
    {"F64", DType::kFloat64},
    {"C64", DType::kComplex64},
    {"F8_E4M3", DType::kFloat8E4m3fn},
    {"F8_E5M2", DType::kFloat8E5m2},
    {"F8_E4M3FNUZ", DType::kFloat8E4m3fnuz},
    {"F8_E5M2FNUZ", DType::kFloat8E5m2fnuz},
    {"F8_E8M0", DType::kFloat8E8m0fnu},
    {"F4", DType::kFloat4E2m1fn},
    {"F6_E2M3", DType::kFloat6E2m3fn},
    {"F6_E3M2", DType::kFloat6E3m2fn},
}};

}  // namespace

std::optional<DType> parse_dtype(std::string_view name) {
  for (const auto& [known, dtype] : kNames) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

std::string_view dtype_name(DType dtype) {
  for (const auto& [name, known] : kNames) {
    if (known == dtype) return name;
  }
  return {};
}

std::string known_dtypes() {
  std::string out;
  for (const auto& [name, dtype] : kNames) {
    if (!out.empty()) out += ' ';
    out += name;
  }
  return out;
}

}  // namespace shardwise::safetensors
