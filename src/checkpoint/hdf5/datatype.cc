#include "checkpoint/hdf5/datatype.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

enum Class : std::uint8_t {
  kFixedPoint = 0,
  kFloatingPoint = 1,
  kTime = 2,
  kString = 3,
  kBitfield = 4,
  kOpaque = 5,
  kCompound = 6,
  kReference = 7,
  kEnumeration = 8,
  kVariableLength = 9,
  kArray = 10,
  kComplex = 11,
};

// The first eight bytes of every datatype.
struct Head {
  std::uint8_t version = 0;
  std::uint8_t type_class = 0;
  std::uint32_t bits = 0;
  std::uint32_t size = 0;
};

constexpr std::uint8_t kLastVersion = 5;

Head read_head(Cursor& cursor) {
  const std::uint8_t first = cursor.u8();
  Head head;
  head.version = first >> 4;
  head.type_class = first & 0x0f;
  head.bits = static_cast<std::uint32_t>(cursor.uint(3));
  head.size = cursor.u32();
  return head;
}

Status check_head(const Cursor& cursor, const Head& head) {
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (head.version == 0 || head.version > kLastVersion) return cursor.error(format("version {}", head.version));
  if (head.type_class > kComplex) return cursor.error(format("class {}", head.type_class));
  if (head.size == 0) return cursor.error("elements of 0 bytes");
  return {};
}

Datatype unsupported(const Head& head, std::string description) {
  return Datatype{.kind = Datatype::Kind::kUnsupported, .size = head.size, .description = std::move(description)};
}

Datatype number(const Head& head, DType dtype) {
  return Datatype{.kind = Datatype::Kind::kNumber, .size = head.size, .number = dtype};
}

Result<Datatype> read_fixed_point(Cursor& cursor, const Head& head) {
  const bool is_big_endian = (head.bits & 0x01) != 0;
  const bool is_signed = (head.bits & 0x08) != 0;
  const std::uint16_t bit_offset = cursor.u16();
  const std::uint16_t precision = cursor.u16();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (precision == 0 || std::uint32_t{bit_offset} + precision > std::uint64_t{8} * head.size) {
    return cursor.error(format("{} bits from bit {} on in {} bytes", precision, bit_offset, head.size));
  }
  if (bit_offset != 0 || precision != std::uint64_t{8} * head.size) {
    return unsupported(head, format("{}-bit integer in {} bytes", precision, head.size));
  }
  if (is_big_endian && head.size > 1) return unsupported(head, "big-endian integer");
  switch (head.size) {
    case 1:
      return number(head, is_signed ? DType::kInt8 : DType::kUint8);
    case 2:
      return number(head, is_signed ? DType::kInt16 : DType::kUint16);
    case 4:
      return number(head, is_signed ? DType::kInt32 : DType::kUint32);
    case 8:
      return number(head, is_signed ? DType::kInt64 : DType::kUint64);
    default:
      return unsupported(head, format("integer of {} bytes", head.size));
  }
}

// Where sign, exponent and mantissa of a floating-point number lie, in bits.
struct FloatFields {
  std::uint32_t size, sign, offset, precision, exponent_at, exponent_bits, mantissa_at, mantissa_bits, bias;
  friend bool operator==(const FloatFields&, const FloatFields&) = default;
};

struct KnownFloat {
  FloatFields fields;
  DType dtype;
};

constexpr std::array<KnownFloat, 4> kKnownFloats = {{
    {{2, 15, 0, 16, 10, 5, 0, 10, 15}, DType::kFloat16},
    {{2, 15, 0, 16, 7, 8, 0, 7, 127}, DType::kBfloat16},
    {{4, 31, 0, 32, 23, 8, 0, 23, 127}, DType::kFloat32},
    {{8, 63, 0, 64, 52, 11, 0, 52, 1023}, DType::kFloat64},
}};

Result<Datatype> read_floating_point(Cursor& cursor, const Head& head) {
  constexpr std::uint32_t kOrderBits = 0x41;
  constexpr std::uint32_t kImpliedOne = 2;
  const std::uint32_t normalization = head.bits >> 4 & 0x03;
  FloatFields fields;
  fields.size = head.size;
  fields.sign = head.bits >> 8 & 0xff;
  fields.offset = cursor.u16();
  fields.precision = cursor.u16();
  fields.exponent_at = cursor.u8();
  fields.exponent_bits = cursor.u8();
  fields.mantissa_at = cursor.u8();
  fields.mantissa_bits = cursor.u8();
  fields.bias = cursor.u32();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if ((head.bits & kOrderBits) != 0) return unsupported(head, "big-endian or VAX floating-point number");
  if (normalization == kImpliedOne) {
    for (const KnownFloat& known : kKnownFloats) {
      if (known.fields == fields) return number(head, known.dtype);
    }
  }
  return unsupported(head, format("floating-point number of {} bytes, {} exponent and {} mantissa bits", head.size,
                                  fields.exponent_bits, fields.mantissa_bits));
}

Datatype read_string(const Head& head) {
  const std::uint32_t padding = head.bits & 0x0f;
  if (padding > 2) return unsupported(head, format("string with padding type {}", padding));
  return Datatype{.kind = Datatype::Kind::kFixedString, .size = head.size, .padding = static_cast<Padding>(padding)};
}

Datatype read_variable_length(const Cursor& cursor, const Head& head) {
  const bool is_string = (head.bits & 0x0f) == 1;
  if (!is_string) return unsupported(head, "variable-length sequence");
  if (head.size != 8 + cursor.file_format().offset_size)
    return unsupported(head, "variable-length string of unknown form");
  return Datatype{.kind = Datatype::Kind::kVariableString, .size = head.size};
}

// numpy's bool, as h5py writes it: an enumeration FALSE = 0, TRUE = 1 over one byte.
Result<Datatype> read_enumeration(Cursor& cursor, const Head& head) {
  const std::uint32_t count = head.bits & 0xffff;
  const Head base = read_head(cursor);
  SHARDWISE_RETURN_IF_ERROR(check_head(cursor, base));
  if (base.type_class != kFixedPoint)
    return cursor.error(format("enumeration over class {}, not over integers", base.type_class));
  if (base.size != head.size) return cursor.error(format("enumeration of {} bytes over {}", head.size, base.size));
  cursor.skip(4);  // bit offset and precision of the base
  if (count != 2 || base.size != 1) return unsupported(head, "enumeration");
  std::array<std::string, 2> names;
  for (std::string& name : names) {
    const std::uint64_t before = cursor.consumed();
    name = cursor.c_string();
    if (const std::uint64_t over = (cursor.consumed() - before) % 8; head.version < 3 && over != 0)
      cursor.skip(8 - over);
  }
  std::map<std::string, std::uint8_t> members;
  for (const std::string& name : names) members[name] = cursor.u8();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (members != std::map<std::string, std::uint8_t>{{"FALSE", 0}, {"TRUE", 1}})
    return unsupported(head, "enumeration");
  return number(head, DType::kBool);
}

}  // namespace

Result<Datatype> read_datatype(Cursor& cursor) {
  const Head head = read_head(cursor);
  SHARDWISE_RETURN_IF_ERROR(check_head(cursor, head));
  switch (head.type_class) {
    case kFixedPoint:
      return read_fixed_point(cursor, head);
    case kFloatingPoint:
      return read_floating_point(cursor, head);
    case kTime:
      return unsupported(head, "time");
    case kString:
      return read_string(head);
    case kBitfield:
      return unsupported(head, "bitfield");
    case kOpaque:
      return Datatype{.kind = Datatype::Kind::kOpaque, .size = head.size};
    case kCompound:
      return unsupported(head, "compound");
    case kReference:
      return unsupported(head, "reference");
    case kEnumeration:
      return read_enumeration(cursor, head);
    case kVariableLength:
      return read_variable_length(cursor, head);
    case kArray:
      return unsupported(head, "array");
    default:
      return unsupported(head, "complex number");
  }
}

}  // namespace shardwise::hdf5
