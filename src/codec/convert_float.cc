// Conversions among float64, float32, float16 and bfloat16.
#include <cstring>

#include "codec/convert.h"
#include "codec/float_bits.h"

namespace shardwise {
namespace {

using namespace float_bits;

template <typename From, typename To>
std::size_t convert_run(const std::byte* source, std::byte* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    typename From::Bits bits;
    std::memcpy(&bits, source + i * sizeof(bits), sizeof(bits));
    const typename To::Bits converted = convert<From, To>(bits);
    std::memcpy(target + i * sizeof(converted), &converted, sizeof(converted));
  }
  return count;
}

template <typename From>
ConvertRun find_from(DType to) {
  switch (to) {
    case DType::kFloat64:
      return convert_run<From, F64>;
    case DType::kFloat32:
      return convert_run<From, F32>;
    case DType::kFloat16:
      return convert_run<From, F16>;
    case DType::kBfloat16:
      return convert_run<From, Bf16>;
    default:
      return nullptr;
  }
}

}  // namespace

ConvertRun find_float_convert(DType from, DType to) {
  if (from == to) return nullptr;
  switch (from) {
    case DType::kFloat64:
      return find_from<F64>(to);
    case DType::kFloat32:
      return find_from<F32>(to);
    case DType::kFloat16:
      return find_from<F16>(to);
    case DType::kBfloat16:
      return find_from<Bf16>(to);
    default:
      return nullptr;
  }
}

}  // namespace shardwise
