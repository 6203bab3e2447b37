// Dataspace, datatype, layout, filter pipeline and fill value messages, well-formed and not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "checkpoint/hdf5/dataspace.h"
#include "checkpoint/hdf5/datatype.h"
#include "checkpoint/hdf5/file_builder_testing.h"
#include "checkpoint/hdf5/fill.h"
#include "checkpoint/hdf5/layout.h"
#include "checkpoint/hdf5/pipeline.h"
#include "testing/matchers.h"

namespace shardwise::hdf5 {
namespace {

using ::testing::ElementsAre;
using testing::Writer;

constexpr FileFormat kFormat;

Cursor cursor_over(const std::string& bytes) { return {std::as_bytes(std::span(bytes)), 1000, kFormat, "record"}; }

template <typename Read>
auto parse(Read read, const std::string& bytes) {
  Cursor cursor = cursor_over(bytes);
  return read(cursor);
}

// Every shorter version of a well-formed record must fail, not read on.
template <typename Read>
void expect_prefixes_fail(Read read, const std::string& bytes, std::size_t needed) {
  ASSERT_THAT(parse(read, bytes), IsOk());
  for (std::size_t size = 0; size < needed; ++size) {
    EXPECT_THAT(parse(read, bytes.substr(0, size)), FailsWith(Code::kDataLoss)) << size;
  }
}

TEST(Dataspace, Version1) {
  const auto space = parse(read_dataspace, testing::dataspace({2, 3}).body);
  ASSERT_THAT(space, IsOk());
  EXPECT_EQ(space->kind, Dataspace::Kind::kSimple);
  EXPECT_EQ(space->shape, (Shape{2, 3}));
  EXPECT_EQ(parse(read_dataspace, testing::dataspace({}).body)->kind, Dataspace::Kind::kScalar);
  expect_prefixes_fail(read_dataspace, testing::dataspace({2, 3}).body, 24);
}

TEST(Dataspace, Version2) {
  EXPECT_EQ(parse(read_dataspace, Writer().u8(2).u8(0).u8(0).u8(0))->kind, Dataspace::Kind::kScalar);
  EXPECT_EQ(parse(read_dataspace, Writer().u8(2).u8(0).u8(0).u8(2))->kind, Dataspace::Kind::kNull);
  const auto space = parse(read_dataspace, Writer().u8(2).u8(1).u8(1).u8(1).u64(0).u64(kUndefined));
  ASSERT_THAT(space, IsOk());
  EXPECT_EQ(space->kind, Dataspace::Kind::kSimple);
  EXPECT_EQ(space->shape, (Shape{0}));
}

TEST(Dataspace, RefusesWhatNoFileHolds) {
  EXPECT_THAT(parse(read_dataspace, Writer().u8(3).zeros(7)), FailsWith(Code::kDataLoss, "version 3"));
  EXPECT_THAT(parse(read_dataspace, Writer().u8(1).u8(33).zeros(6 + 33 * 8)),
              FailsWith(Code::kDataLoss, "rank 33, over 32"));
  EXPECT_THAT(parse(read_dataspace, Writer().u8(2).u8(0).u8(0).u8(3)), FailsWith(Code::kDataLoss, "type 3"));
  EXPECT_THAT(parse(read_dataspace, Writer().u8(2).u8(1).u8(0).u8(0).u64(1)), FailsWith(Code::kDataLoss, "scalar"));
  EXPECT_THAT(parse(read_dataspace, Writer().u8(1).u8(1).u8(2).zeros(13)), FailsWith(Code::kDataLoss, "permuted"));
  EXPECT_THAT(parse(read_dataspace, testing::dataspace({std::uint64_t{1} << 63}).body),
              FailsWith(Code::kDataLoss, "dimension 0 is 9223372036854775808"));
  EXPECT_THAT(parse(read_dataspace, Writer().u8(2).u8(1).u8(1).u8(1).u64(5).u64(4)),
              FailsWith(Code::kDataLoss, "over its maximum of 4"));
}

Writer floating_point(std::uint64_t bits, std::uint32_t size, std::uint8_t exponent_at, std::uint8_t exponent_bits,
                      std::uint8_t mantissa_bits, std::uint32_t bias) {
  return Writer()
      .u8(0x11)
      .uint(bits, 3)
      .u32(size)
      .u16(0)
      .u16(8 * size)
      .u8(exponent_at)
      .u8(exponent_bits)
      .u8(0)
      .u8(mantissa_bits)
      .u32(bias);
}

TEST(Datatype, FloatingPointNumbers) {
  EXPECT_EQ(parse(read_datatype, floating_point(0x0f20, 2, 10, 5, 10, 15))->number, DType::kFloat16);
  EXPECT_EQ(parse(read_datatype, floating_point(0x0f20, 2, 7, 8, 7, 127))->number, DType::kBfloat16);
  EXPECT_EQ(parse(read_datatype, floating_point(0x1f20, 4, 23, 8, 23, 127))->number, DType::kFloat32);
  EXPECT_EQ(parse(read_datatype, floating_point(0x3f20, 8, 52, 11, 52, 1023))->number, DType::kFloat64);
  expect_prefixes_fail(read_datatype, testing::float32().body, 20);
}

// Each differs from float32 in one field.
TEST(Datatype, AlmostFloat32IsUnsupported) {
  for (const Writer& almost : {floating_point(0x1f21, 4, 23, 8, 23, 127), floating_point(0x1f10, 4, 23, 8, 23, 127),
                               floating_point(0x1e20, 4, 23, 8, 23, 127), floating_point(0x1f20, 4, 22, 8, 23, 127),
                               floating_point(0x1f20, 4, 23, 7, 23, 127), floating_point(0x1f20, 4, 23, 8, 22, 127),
                               floating_point(0x1f20, 4, 23, 8, 23, 126), floating_point(0x1f20, 8, 23, 8, 23, 127)}) {
    const auto type = parse(read_datatype, almost);
    ASSERT_THAT(type, IsOk());
    EXPECT_EQ(type->kind, Datatype::Kind::kUnsupported);
    EXPECT_THAT(type->description, ::testing::HasSubstr("floating-point"));
  }
}

TEST(Datatype, Integers) {
  const DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
  const DType kUnsigned[] = {DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parse(read_datatype, testing::fixed_point(1u << i, true).body)->number, kSigned[i]);
    EXPECT_EQ(parse(read_datatype, testing::fixed_point(1u << i, false).body)->number, kUnsigned[i]);
  }
  const auto big = parse(read_datatype, Writer().u8(0x10).u8(9).u16(0).u32(4).u16(0).u16(32));
  EXPECT_EQ(big->description, "big-endian integer");
  const auto odd = parse(read_datatype, Writer().u8(0x10).u8(8).u16(0).u32(4).u16(0).u16(24));
  EXPECT_EQ(odd->description, "24-bit integer in 4 bytes");
  EXPECT_THAT(parse(read_datatype, Writer().u8(0x10).u8(8).u16(0).u32(4).u16(1).u16(32)),
              FailsWith(Code::kDataLoss, "32 bits from bit 1 on in 4 bytes"));
}

Writer enumeration(std::uint64_t members, const Writer& base, std::string_view first, std::string_view second) {
  Writer w;
  w.u8(0x18).uint(members, 3).u32(1).text(base);
  for (const std::string_view name : {first, second}) w.text(Writer().text(name).zeros(1).pad());
  return w.u8(0).u8(1);
}

TEST(Datatype, BooleansAreEnumerations) {
  const Writer base = Writer().text(testing::fixed_point(1, true).body);
  EXPECT_EQ(parse(read_datatype, enumeration(2, base, "FALSE", "TRUE"))->number, DType::kBool);
  // Version 3 does not pad the names.
  const Writer version3 =
      Writer().u8(0x38).u8(2).u16(0).u32(1).text(base).text("FALSE").zeros(1).text("TRUE").zeros(1).u8(0).u8(1);
  EXPECT_EQ(parse(read_datatype, version3)->number, DType::kBool);
  expect_prefixes_fail(read_datatype, version3, version3.size());
  EXPECT_EQ(parse(read_datatype, enumeration(2, base, "OFF", "ON"))->description, "enumeration");
  EXPECT_EQ(parse(read_datatype, enumeration(2, base, "TRUE", "FALSE"))->description, "enumeration");
  EXPECT_EQ(parse(read_datatype, enumeration(2, base, "TRUE", "TRUE"))->description, "enumeration");
  EXPECT_THAT(parse(read_datatype, enumeration(2, Writer().text(testing::float32().body), "FALSE", "TRUE")),
              FailsWith(Code::kDataLoss, "enumeration over class 1"));
  EXPECT_THAT(parse(read_datatype, enumeration(2, Writer().text(testing::fixed_point(2, true).body), "FALSE", "TRUE")),
              FailsWith(Code::kDataLoss, "enumeration of 1 bytes over 2"));
}

TEST(Datatype, OthersAreNamed) {
  const std::pair<int, std::string_view> kClasses[] = {{2, "time"},      {4, "bitfield"}, {6, "compound"},
                                                       {7, "reference"}, {10, "array"},   {11, "complex number"}};
  for (const auto& [type_class, name] : kClasses) {
    const auto type = parse(read_datatype, Writer().u8(0x10u | static_cast<unsigned>(type_class)).uint(0, 3).u32(8));
    ASSERT_THAT(type, IsOk());
    EXPECT_EQ(type->description, name);
  }
  EXPECT_EQ(parse(read_datatype, Writer().u8(0x19).uint(0, 3).u32(16))->description, "variable-length sequence");
  EXPECT_EQ(parse(read_datatype, testing::opaque(2).body)->kind, Datatype::Kind::kOpaque);
}

TEST(Datatype, RefusesWhatNoFileHolds) {
  EXPECT_THAT(parse(read_datatype, Writer().u8(0x15).uint(0, 3).u32(0)), FailsWith(Code::kDataLoss, "0 bytes"));
  EXPECT_THAT(parse(read_datatype, Writer().u8(0x1c).uint(0, 3).u32(4)), FailsWith(Code::kDataLoss, "class 12"));
  EXPECT_THAT(parse(read_datatype, Writer().u8(0x00).uint(0, 3).u32(4)), FailsWith(Code::kDataLoss, "version 0"));
  EXPECT_THAT(parse(read_datatype, Writer().u8(0x60).uint(0, 3).u32(4)), FailsWith(Code::kDataLoss, "version 6"));
}

TEST(Layout, Contiguous) {
  for (const std::uint64_t version : {3u, 4u, 5u}) {
    const auto layout = parse(read_layout, Writer().u8(version).u8(1).u64(4096).u64(24));
    ASSERT_THAT(layout, IsOk());
    EXPECT_EQ(layout->kind, Layout::Kind::kContiguous);
    EXPECT_EQ(layout->address, 4096u);
    EXPECT_EQ(layout->size, 24u);
  }
  for (const std::uint64_t version : {1u, 2u}) {
    const auto layout = parse(read_layout, Writer().u8(version).u8(2).u8(1).zeros(5).u64(4096).u32(2).u32(3));
    ASSERT_THAT(layout, IsOk());
    EXPECT_EQ(layout->address, 4096u);
    EXPECT_EQ(layout->size, kUndefined);
  }
  expect_prefixes_fail(read_layout, Writer().u8(3).u8(1).u64(4096).u64(24), 18);
}

TEST(Layout, CompactPointsIntoTheMessage) {
  const auto layout = parse(read_layout, Writer().u8(3).u8(0).u16(4).u32(7));
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->kind, Layout::Kind::kCompact);
  EXPECT_EQ(layout->address, 1004u);
  EXPECT_EQ(layout->size, 4u);
  const auto old = parse(read_layout, Writer().u8(2).u8(1).u8(0).zeros(5).u32(1).u32(4).u32(7));
  ASSERT_THAT(old, IsOk());
  EXPECT_EQ(old->address, 1016u);
  EXPECT_EQ(old->size, 4u);
  EXPECT_THAT(parse(read_layout, Writer().u8(3).u8(0).u16(5).u32(7)), FailsWith(Code::kDataLoss));
}

TEST(Layout, Chunked) {
  const auto layout = parse(read_layout, testing::chunked(512, {2, 3}, 4).body);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->kind, Layout::Kind::kChunked);
  EXPECT_EQ(layout->address, 512u);
  EXPECT_THAT(layout->chunk_dims, ElementsAre(2u, 3u));
  EXPECT_EQ(layout->element_size, 4u);
  const auto old = parse(read_layout, Writer().u8(1).u8(3).u8(2).zeros(5).u64(512).u32(2).u32(3).u32(4));
  ASSERT_THAT(old, IsOk());
  EXPECT_THAT(old->chunk_dims, ElementsAre(2u, 3u));
  EXPECT_EQ(old->element_size, 4u);
  expect_prefixes_fail(read_layout, testing::chunked(512, {2, 3}, 4).body, 23);
}

TEST(Layout, Refusals) {
  EXPECT_THAT(parse(read_layout, Writer().u8(0).zeros(30)), FailsWith(Code::kDataLoss, "version 0"));
  EXPECT_THAT(parse(read_layout, Writer().u8(6).zeros(30)), FailsWith(Code::kDataLoss, "version 6"));
  EXPECT_THAT(parse(read_layout, Writer().u8(3).u8(4).zeros(30)), FailsWith(Code::kDataLoss, "storage class 4"));
  EXPECT_THAT(parse(read_layout, Writer().u8(4).u8(3).zeros(30)), FailsWith(Code::kUnimplemented, "virtual Dataset"));
  EXPECT_THAT(parse(read_layout, testing::chunked(512, {2, 0}, 4).body),
              FailsWith(Code::kDataLoss, "dimension 1 is 0"));
  EXPECT_THAT(parse(read_layout, Writer().u8(3).u8(2).u8(1).u64(512).u32(4)), FailsWith(Code::kDataLoss, "rank 0"));
  EXPECT_THAT(parse(read_layout, Writer().u8(3).u8(2).u8(34).u64(512).zeros(34 * 4)),
              FailsWith(Code::kDataLoss, "rank 33"));
  const char* kIndexes[] = {"single chunk", "implicit", "fixed array", "extensible array", "version 2 B-tree"};
  for (std::uint64_t index = 1; index <= 5; ++index) {
    EXPECT_THAT(parse(read_layout, Writer().u8(4).u8(2).u8(0).u8(2).u8(4).u32(8).u32(4).u8(index).zeros(20)),
                FailsWith(Code::kUnimplemented, kIndexes[index - 1]));
  }
}

TEST(Pipeline, BothVersions) {
  const Writer version1 = Writer()
                              .u8(1)
                              .u8(3)
                              .zeros(6)
                              .u16(2)
                              .u16(8)
                              .u16(1)
                              .u16(1)
                              .text("shuffle")
                              .zeros(1)
                              .u32(4)
                              .u32(0)
                              .u16(1)
                              .u16(8)
                              .u16(1)
                              .u16(1)
                              .text("deflate")
                              .zeros(1)
                              .u32(6)
                              .u32(0)
                              .u16(3)
                              .u16(0)
                              .u16(0)
                              .u16(0);
  const Writer version2 =
      Writer().u8(2).u8(3).u16(2).u16(1).u16(1).u32(4).u16(1).u16(1).u16(1).u32(6).u16(3).u16(0).u16(0);
  const std::vector<Filter> expected = {
      {Filter::Kind::kShuffle, 4}, {Filter::Kind::kDeflate, 0}, {Filter::Kind::kFletcher32, 0}};
  for (const Writer& message : {version1, version2}) {
    const auto filters = parse(read_pipeline, message);
    ASSERT_THAT(filters, IsOk());
    EXPECT_EQ(*filters, expected);
    expect_prefixes_fail(read_pipeline, message, message.size());
  }
}

TEST(Pipeline, Refusals) {
  const auto with_filter = [](std::uint64_t id) { return Writer().u8(1).u8(1).zeros(6).u16(id).u16(0).u16(1).u16(0); };
  EXPECT_THAT(parse(read_pipeline, with_filter(4)), FailsWith(Code::kUnimplemented, "filter 4 (szip)"));
  EXPECT_THAT(parse(read_pipeline, with_filter(5)), FailsWith(Code::kUnimplemented, "filter 5 (nbit)"));
  EXPECT_THAT(parse(read_pipeline, with_filter(6)), FailsWith(Code::kUnimplemented, "filter 6 (scaleoffset)"));
  EXPECT_THAT(parse(read_pipeline, with_filter(32000)), FailsWith(Code::kUnimplemented, "filter 32000 (lzf)"));
  EXPECT_THAT(parse(read_pipeline, with_filter(32001)), FailsWith(Code::kUnimplemented, "filter 32001 (blosc)"));
  EXPECT_THAT(parse(read_pipeline, with_filter(777)), FailsWith(Code::kUnimplemented, "filter 777 (unknown)"));
  EXPECT_THAT(parse(read_pipeline, with_filter(2)), FailsWith(Code::kDataLoss, "shuffle without"));
  EXPECT_THAT(parse(read_pipeline, Writer().u8(1).u8(33).zeros(6)), FailsWith(Code::kDataLoss, "33 filters"));
  EXPECT_THAT(parse(read_pipeline, Writer().u8(3).u8(0)), FailsWith(Code::kDataLoss, "version 3"));
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += format("{:02x} ", static_cast<unsigned char>(c));
  return text;
}

struct FillCase {
  std::uint16_t type;
  Writer body;
  std::string bytes;
  bool is_undefined;
};

Result<FillValue> fill_of(const std::vector<std::pair<std::uint16_t, std::string>>& messages) {
  ObjectHeader header;
  for (const auto& [type, body] : messages) {
    Message message;
    message.type = static_cast<MessageType>(type);
    message.data = std::as_bytes(std::span(body));
    header.messages.push_back(message);
  }
  return read_fill(header, kFormat, 4);
}

TEST(Fill, EveryVersion) {
  const std::string seven = Writer().u32(7);
  const FillCase kCases[] = {
      {0x05, Writer().u8(1).u8(2).u8(2).u8(1).u32(4).u32(7), seven, false},
      {0x05, Writer().u8(1).u8(2).u8(2).u8(1).u32(0), "", false},
      {0x05, Writer().u8(1).u8(2).u8(2).u8(1).u32(0xffffffff), "", true},
      {0x05, Writer().u8(2).u8(2).u8(2).u8(1).u32(4).u32(7), seven, false},
      {0x05, Writer().u8(2).u8(2).u8(2).u8(1).u32(4).u32(0), "", false},
      {0x05, Writer().u8(2).u8(2).u8(2).u8(0), "", true},
      {0x05, Writer().u8(2).u8(2).u8(1).u8(1).u32(0), "", true},  // never to be filled
      {0x05, Writer().u8(3).u8(0x2a).u32(4).u32(7), seven, false},
      {0x05, Writer().u8(3).u8(0x0a), "", false},
      {0x05, Writer().u8(3).u8(0x1a), "", true},
      {0x05, Writer().u8(3).u8(0x06), "", true},  // never to be filled
      {0x04, Writer().u32(4).u32(7), seven, false},
      {0x04, Writer().u32(0), "", false},
  };
  for (const FillCase& c : kCases) {
    const auto fill = fill_of({{c.type, c.body.bytes()}});
    ASSERT_THAT(fill, IsOk());
    EXPECT_EQ(fill->bytes, c.bytes) << hex(c.body.bytes());
    EXPECT_EQ(fill->is_undefined, c.is_undefined) << hex(c.body.bytes());
  }
}

TEST(Fill, TheNewMessageWins) {
  const std::string new_fill = Writer().u8(2).u8(2).u8(2).u8(1).u32(4).u32(7);
  const std::string old_fill = Writer().u32(4).u32(8);
  EXPECT_EQ(fill_of({{0x04, old_fill}, {0x05, new_fill}})->bytes, Writer().u32(7).bytes());
  EXPECT_EQ(fill_of({})->bytes, "");
}

TEST(Fill, Refusals) {
  const auto refuse = [](std::uint16_t type, const Writer& body) { return fill_of({{type, body.bytes()}}); };
  EXPECT_THAT(refuse(0x05, Writer().u8(4).zeros(8)), FailsWith(Code::kDataLoss, "version 4"));
  EXPECT_THAT(refuse(0x05, Writer().u8(2).u8(2).u8(2).u8(1).u32(2).u16(7)),
              FailsWith(Code::kDataLoss, "a value of 2 bytes for elements of 4"));
  EXPECT_THAT(refuse(0x05, Writer().u8(2).u8(2).u8(2).u8(1).u32(4).u16(7)), FailsWith(Code::kDataLoss));
  EXPECT_THAT(refuse(0x05, Writer().u8(3).u8(0x3a).u32(4).u32(7)), FailsWith(Code::kDataLoss, "both undefined"));
  EXPECT_THAT(refuse(0x04, Writer().u32(400)), FailsWith(Code::kDataLoss));
}

}  // namespace
}  // namespace shardwise::hdf5
