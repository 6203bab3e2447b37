// Integers among integers, and bool to integers, with a check that every value fits.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "codec/convert.h"

namespace shardwise {
namespace {

static_assert(std::endian::native == std::endian::little, "stored elements are little-endian");

// A stored bool: any byte but 0 is true, as in numpy.
struct StoredBool {
  std::uint8_t byte;
};

template <typename From>
auto value_of(const std::byte* source, std::size_t index) {
  From value;
  std::memcpy(&value, source + index * sizeof(From), sizeof(From));
  if constexpr (std::is_same_v<From, StoredBool>) {
    return static_cast<std::uint8_t>(value.byte != 0);
  } else {
    return value;
  }
}

template <typename From, typename To>
std::size_t convert_run(const std::byte* source, std::byte* target, std::size_t count) {
  // Blocks of a constant size, checked as a whole first: both loops then have no branch and become vector code.
  constexpr std::size_t kBlock = 64;
  std::size_t done = 0;
  for (; done + kBlock <= count; done += kBlock) {
    bool fits = true;
    std::array<To, kBlock> block;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto value = value_of<From>(source, done + i);
      fits &= std::in_range<To>(value);
      block[i] = static_cast<To>(value);
    }
    if (!fits) break;
    std::memcpy(target + done * sizeof(To), block.data(), sizeof(block));
  }
  for (; done < count; ++done) {
    const auto value = value_of<From>(source, done);
    if (!std::in_range<To>(value)) return done;
    const To converted = static_cast<To>(value);
    std::memcpy(target + done * sizeof(To), &converted, sizeof(To));
  }
  return count;
}

template <typename From>
ConvertRun find_from(DType to) {
  switch (to) {
    case DType::kInt8:
      return convert_run<From, std::int8_t>;
    case DType::kInt16:
      return convert_run<From, std::int16_t>;
    case DType::kInt32:
      return convert_run<From, std::int32_t>;
    case DType::kInt64:
      return convert_run<From, std::int64_t>;
    case DType::kUint8:
      return convert_run<From, std::uint8_t>;
    case DType::kUint16:
      return convert_run<From, std::uint16_t>;
    case DType::kUint32:
      return convert_run<From, std::uint32_t>;
    case DType::kUint64:
      return convert_run<From, std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

ConvertRun find_integer_convert(DType from, DType to) {
  switch (from) {
    case DType::kBool:
      return find_from<StoredBool>(to);
    case DType::kInt8:
      return find_from<std::int8_t>(to);
    case DType::kInt16:
      return find_from<std::int16_t>(to);
    case DType::kInt32:
      return find_from<std::int32_t>(to);
    case DType::kInt64:
      return find_from<std::int64_t>(to);
    case DType::kUint8:
      return find_from<std::uint8_t>(to);
    case DType::kUint16:
      return find_from<std::uint16_t>(to);
    case DType::kUint32:
      return find_from<std::uint32_t>(to);
    case DType::kUint64:
      return find_from<std::uint64_t>(to);
    default:
      return nullptr;
  }
}

std::string integer_text(const std::byte* element, DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return std::to_string(value_of<std::int8_t>(element, 0));
    case DType::kInt16:
      return std::to_string(value_of<std::int16_t>(element, 0));
    case DType::kInt32:
      return std::to_string(value_of<std::int32_t>(element, 0));
    case DType::kInt64:
      return std::to_string(value_of<std::int64_t>(element, 0));
    case DType::kUint16:
      return std::to_string(value_of<std::uint16_t>(element, 0));
    case DType::kUint32:
      return std::to_string(value_of<std::uint32_t>(element, 0));
    case DType::kUint64:
      return std::to_string(value_of<std::uint64_t>(element, 0));
    default:
      return std::to_string(value_of<std::uint8_t>(element, 0));
  }
}

ConvertRun find_convert(DType from, DType to) {
  if (from == to) return nullptr;
  if (const ConvertRun found = find_float_convert(from, to)) return found;
  return find_integer_convert(from, to);
}

}  // namespace shardwise
