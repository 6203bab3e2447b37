#include "random/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/format.h"
#include "random/arithmetic.h"

namespace shardwise {
namespace {

template <typename T>
ElementBytes bytes_of(const T& value) {
  ElementBytes bytes{};
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// N is double, or a 64-bit integer, which a double may not hold.
template <typename T, typename N>
Result<ElementBytes> integer(N value, DType dtype) {
  bool holds;
  if constexpr (std::is_same_v<N, double>) {
    // Bounds are powers of two: exact. NaN fails both.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    holds = std::trunc(value) >= static_cast<double>(std::numeric_limits<T>::min()) && std::trunc(value) < above;
  } else {
    holds = std::in_range<T>(value);
  }
  if (!holds) return invalid_argument("{} holds no {}", to_string(dtype), value);
  return bytes_of(static_cast<T>(value));
}

// Zero and one; their encodings do not follow from the number of bits.
std::optional<std::byte> float8(double value, DType dtype) {
  const bool one = value == 1;
  if (!one && (value != 0 || std::signbit(value))) return std::nullopt;
  switch (dtype) {
    case DType::kFloat8E4m3fn:
      return std::byte(one ? 0x38 : 0);
    case DType::kFloat8E5m2:
      return std::byte(one ? 0x3c : 0);
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E5m2fnuz:
      return std::byte(one ? 0x40 : 0);
    case DType::kFloat8E8m0fnu:
      return one ? std::optional(std::byte{0x7f}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

template <typename N>
Result<ElementBytes> encode(N value, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return bytes_of(static_cast<std::uint8_t>(value != 0));
    case DType::kInt8:
      return integer<std::int8_t>(value, dtype);
    case DType::kInt16:
      return integer<std::int16_t>(value, dtype);
    case DType::kInt32:
      return integer<std::int32_t>(value, dtype);
    case DType::kInt64:
      return integer<std::int64_t>(value, dtype);
    case DType::kUint8:
      return integer<std::uint8_t>(value, dtype);
    case DType::kUint16:
      return integer<std::uint16_t>(value, dtype);
    case DType::kUint32:
      return integer<std::uint32_t>(value, dtype);
    case DType::kUint64:
      return integer<std::uint64_t>(value, dtype);
    case DType::kFloat16:
      return bytes_of(float_bits::convert<float_bits::F64, float_bits::F16>(
          std::bit_cast<std::uint64_t>(static_cast<double>(value))));
    case DType::kBfloat16:
      return bytes_of(arithmetic::Bfloat16::bits(static_cast<float>(value)));
    case DType::kFloat32:
      return bytes_of(static_cast<float>(value));
    case DType::kFloat64:
      return bytes_of(static_cast<double>(value));
    case DType::kComplex64:
      return bytes_of(std::array<float, 2>{static_cast<float>(value), 0});
    case DType::kComplex128:
      return bytes_of(std::array<double, 2>{static_cast<double>(value), 0});
    default:
      if (const auto byte = float8(static_cast<double>(value), dtype)) return bytes_of(*byte);
      return unimplemented("the number {} in {}", value, to_string(dtype));
  }
}

Result<ElementBytes> convert(DType from, const std::byte* at, DType to) {
  switch (from) {
    case DType::kBool:
    case DType::kUint8:
      return encode<std::uint64_t>(load<std::uint8_t>(at), to);
    case DType::kInt8:
      return encode<std::int64_t>(load<std::int8_t>(at), to);
    case DType::kInt16:
      return encode<std::int64_t>(load<std::int16_t>(at), to);
    case DType::kInt32:
      return encode<std::int64_t>(load<std::int32_t>(at), to);
    case DType::kInt64:
      return encode<std::int64_t>(load<std::int64_t>(at), to);
    case DType::kUint16:
      return encode<std::uint64_t>(load<std::uint16_t>(at), to);
    case DType::kUint32:
      return encode<std::uint64_t>(load<std::uint32_t>(at), to);
    case DType::kUint64:
      return encode<std::uint64_t>(load<std::uint64_t>(at), to);
    case DType::kFloat16:
      return encode<double>(arithmetic::Float16::value(load<std::uint16_t>(at)), to);
    case DType::kBfloat16:
      return encode<double>(arithmetic::Bfloat16::value(load<std::uint16_t>(at)), to);
    case DType::kFloat32:
      return encode<double>(load<float>(at), to);
    case DType::kFloat64:
      return encode<double>(load<double>(at), to);
    default:
      return unimplemented("an array of {} as {}", to_string(from), to_string(to));
  }
}

}  // namespace

Result<ElementBytes> encode_number(double value, DType dtype) { return encode(value, dtype); }

Status cast_numbers(DType from, std::span<const std::byte> source, DType to, std::span<std::byte> target) {
  if (from == to) {
    std::copy(source.begin(), source.end(), target.begin());
    return {};
  }
  const std::uint64_t from_width = byte_width(from);
  const std::uint64_t to_width = byte_width(to);
  for (std::uint64_t i = 0; i * from_width < source.size(); ++i) {
    SHARDWISE_ASSIGN_OR_RETURN(const ElementBytes bytes, convert(from, source.data() + i * from_width, to));
    std::memcpy(target.data() + i * to_width, bytes.data(), to_width);
  }
  return {};
}

}  // namespace shardwise
