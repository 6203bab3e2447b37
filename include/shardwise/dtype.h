// Element types of stored and loaded tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardwise {

// Everything safetensors, Keras and HDF5 files of ours hold. Values are little-endian; sub-byte types are packed.
enum class DType : std::uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kFloat8E4m3fn,
  kFloat8E5m2,
  kFloat8E4m3fnuz,
  kFloat8E5m2fnuz,
  kFloat8E8m0fnu,
  kInt4,
  kUint4,
  kFloat4E2m1fn,
  kFloat6E2m3fn,
  kFloat6E3m2fn,
};
inline constexpr int kDTypeCount = static_cast<int>(DType::kFloat6E3m2fn) + 1;

// Bits of one element: 4, 6, 8, 16, ... 128.
int bit_width(DType dtype);
// True when an element fills whole bytes.
inline bool is_byte_sized(DType dtype) { return bit_width(dtype) % 8 == 0; }
// Bytes of one element; only for byte-sized types.
inline std::uint64_t byte_width(DType dtype) { return static_cast<std::uint64_t>(bit_width(dtype)) / 8; }

// numpy and JAX spelling: "float32", "bfloat16", "float8_e4m3fn", "bool".
std::string_view to_string(DType dtype);
// The reverse; nullopt for an unknown name.
std::optional<DType> parse_dtype(std::string_view name);

enum class DTypeKind : std::uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex };
DTypeKind kind(DType dtype);

// True when a load may convert `from` to `to`: equal types; every pair of float64, float32, float16, bfloat16 (rounded
// to nearest even, as numpy and ml_dtypes do); integers and bool to integers (a value that does not fit fails the
// load). Everything else, float8 and sub-byte types among it, moves as bytes only.
bool can_cast(DType from, DType to);

}  // namespace shardwise
