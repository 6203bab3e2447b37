#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/safetensors/testing.h"
#include "io/faulty_file.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using safetensors::file_of;
using safetensors::length_field;

Result<Catalog> read(std::string_view bytes, const OpenOptions& options = {}) {
  return read_safetensors("m.safetensors", MemoryFile("m.safetensors", bytes), options);
}

// A header with one tensor 'a' of 4 bytes whose entry is `entry`.
std::string with_entry(std::string_view entry) { return file_of(format("{{\"a\":{}}}", entry), "1234"); }

constexpr std::string_view kTwo =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[2,3],"data_offsets":[8,20]},)"
    R"("scalar":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"none":{"dtype":"F32","shape":[2,0],"data_offsets":[20,20]}})";

TEST(Safetensors, ReadsTensorsInOrderOfTheirBytes) {
  const auto catalog = read(file_of(kTwo, std::string(20, 'x')));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_EQ(catalog->format, "safetensors");
  EXPECT_EQ(catalog->path, "m.safetensors");
  EXPECT_EQ(catalog->metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(catalog->files.size(), 1u);
  EXPECT_EQ(catalog->files[0].size, 8 + kTwo.size() + 20);
  ASSERT_EQ(catalog->tensors.size(), 3u);
  const std::uint64_t data = 8 + kTwo.size();

  const TensorInfo& scalar = catalog->tensors[0];
  EXPECT_EQ(scalar.name, "scalar");
  EXPECT_EQ(scalar.dtype, DType::kInt64);
  EXPECT_EQ(scalar.shape, Shape{});
  ASSERT_EQ(scalar.extents.size(), 1u);
  EXPECT_EQ(scalar.extents[0].range, (ByteRange{data, data + 8}));

  const TensorInfo& b = catalog->tensors[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.shape, (Shape{2, 3}));
  EXPECT_EQ(b.extents[0].range, (ByteRange{data + 8, data + 20}));
  EXPECT_EQ(b.extents[0].box, Box::whole({2, 3}));
  EXPECT_EQ(b.extents[0].encoding, Extent::kRaw);

  EXPECT_EQ(catalog->tensors[2].name, "none");
  EXPECT_EQ(catalog->tensors[2].shape, (Shape{2, 0}));
  EXPECT_TRUE(catalog->tensors[2].extents.empty());
  EXPECT_THAT(validate(*catalog), IsOk());
}

TEST(Safetensors, AcceptsWhatTheReferenceAccepts) {
  constexpr std::string_view kEntry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const std::vector<std::string> jsons = {
      format(" \n\t\r{{\"a\":{}}}", kEntry),                                       // blanks before
      format("{{\"a\":{}}} \n\t\r", kEntry),                                       // and behind
      format("{{\"a\":{},\"__metadata__\":null}}", kEntry),                        //
      format("{{\"\":{}}}", kEntry),                                               // empty name
      format("{{\"\\ud83d\\ude00 \\/\\u00e9\":{}}}", kEntry),                      // escapes
      R"({"a":{"d\u0074ype":"F\u0033\u0032","shape":[1],"data_offsets":[0,4]}})",  // escaped keys and values
      R"({"a":{"data_offsets":[0,4],"extra":[{"x":[1e3,null]}],"shape":[1,1],"dtype":"F32"}})",  // unknown keys
      R"({"\u005f_metadata__":{"a":""},"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})",
  };
  for (const std::string& json : jsons) EXPECT_THAT(read(file_of(json, "1234")), IsOk()) << json;
  EXPECT_THAT(read(file_of("{}")), IsOk());
}

struct BadFile {
  std::string bytes;
  const char* message;
};

TEST(Safetensors, RefusesMalformedFiles) {
  const std::string u64_max = "18446744073709551615";
  const std::vector<BadFile> cases = {
      {"", "has 0 bytes, fewer than the 8"},
      {"1234567", "has 7 bytes, fewer than the 8 of a header length (truncated download?)"},
      {std::string("\x3c\0\0\0\0\xff\xff\xff", 8), "is too large: the format's limit is 100000000"},
      {length_field(100'000'001), "is too large"},
      {length_field(~0ULL) + "{}", "is too large"},
      {length_field(3) + "{}", "the header takes bytes [8, 11) but the file ends at 10 (truncated download?)"},
      {length_field(100'000'000) + "{}", "the file ends at 10 (truncated download?)"},
      {file_of(""), "header: not valid JSON at byte"},
      {file_of("\xff"), "header: not valid JSON at byte 1"},
      {file_of("{"), "header: not valid JSON"},
      {file_of("[]"), "the header is an array, not a JSON object"},
      {file_of("1"), "the header is an integer, not a JSON object"},
      {file_of("null"), "the header is null, not a JSON object"},
      {file_of("\xef\xbb\xbf{}"), "a byte-order mark"},
      {file_of(std::string_view("{}\0", 3)), "not valid JSON at byte 2: a NUL"},
      {file_of("{}x"), "not valid JSON at byte 3"},
      {file_of("{}{}"), "not valid JSON"},
      {file_of("/**/{}"), "not valid JSON"},
      {file_of("{\"a\xff\":1}"), "not valid JSON"},
      {file_of("{\"a\x01\":1}"), "not valid JSON"},
      {file_of(R"({"a\ud800":1})"), "not valid JSON"},
      {file_of("{'a':1}"), "not valid JSON"},
      {file_of("{}", "1234"), "4 bytes follow the last tensor: the data ends at 0 of 4"},
      {with_entry("null"), "tensor 'a': its entry is null, not an object"},
      {with_entry(R"(["F32",[1],[0,4]])"), "tensor 'a': its entry is an array, not an object"},
      {with_entry("{}"), "tensor 'a': 'dtype' is missing"},
      {with_entry(R"({"dtype":"F32","data_offsets":[0,4]})"), "'shape' is missing"},
      {with_entry(R"({"dtype":"F32","shape":[1]})"), "'data_offsets' is missing"},
      {with_entry(R"({"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]})"), "'shape' is there twice"},
      {with_entry(R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})"), "'dtype' is there twice"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"data_offsets":[0,4]})"), "there twice"},
      {with_entry(R"({"dtype":"f32","shape":[1],"data_offsets":[0,4]})"),
       "tensor 'a': unknown dtype 'f32'; known are BOOL I8"},
      {with_entry(R"({"dtype":"F8_E4M3FN","shape":[4],"data_offsets":[0,4]})"), "unknown dtype 'F8_E4M3FN'"},
      {with_entry(R"({"dtype":{"F32":null},"shape":[1],"data_offsets":[0,4]})"), "dtype is an object, not a string"},
      {with_entry(R"({"dtype":7,"shape":[1],"data_offsets":[0,4]})"), "dtype is an integer, not a string"},
      {with_entry(R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})"), "shape is an integer, not an array"},
      {with_entry(R"({"dtype":"F32","shape":{},"data_offsets":[0,4]})"), "shape is an object, not an array"},
      {with_entry(R"({"dtype":"F32","shape":[[1]],"data_offsets":[0,4]})"), "shape holds an array"},
      {with_entry(R"({"dtype":"F32","shape":["1"],"data_offsets":[0,4]})"), "shape holds a string"},
      {with_entry(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})"), "shape holds a number with"},
      {with_entry(R"({"dtype":"F32","shape":[1e0],"data_offsets":[0,4]})"), "shape holds a number with"},
      {with_entry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "extents are plain integers >= 0"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[-0,4]})"), "offsets are plain integers >= 0"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4.0]})"), "offsets are plain integers >= 0"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616]})"), "or over 2^64"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":"0,4"})"), "data_offsets is a string, not an array"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[]})"), "data_offsets has 0 numbers, not 2"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), "data_offsets has 1 numbers, not 2"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,4]})"), "more than 2 numbers"},
      {with_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), "data_offsets [4, 0] run backwards"},
      {with_entry(R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,4]})"),
       "m.safetensors: tensor 'a': shape (2, 2) of float32 takes 16 bytes but data_offsets [0, 4) hold 4"},
      {with_entry(R"({"dtype":"F32","shape":[2,18446744073709551614],"data_offsets":[0,4]})"), "is over 2^63-1"},
      {with_entry(R"({"dtype":"F32","shape":[2,9223372036854775807],"data_offsets":[0,4]})"), "tensor 'a': shape"},
      {with_entry(R"({"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]})"), "too many bytes"},
      {with_entry(R"({"dtype":"F4","shape":[7],"data_offsets":[0,4]})"), "7 elements of float4_e2m1fn do not fill"},
      {with_entry(R"({"dtype":"F6_E2M3","shape":[5],"data_offsets":[0,4]})"), "do not fill whole bytes"},
      {with_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"),
       "tensor 'a' needs data bytes [0, 8) but the data ends at 4: 4 bytes are missing"},
      {with_entry(R"({"dtype":"U8","shape":[3],"data_offsets":[0,3]})"), "1 bytes follow the last tensor"},
      {with_entry(R"({"dtype":"U8","shape":[3],"data_offsets":[1,4]})"), "nothing owns the bytes [0, 1) before it"},
      {with_entry("{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[" + u64_max + "," + u64_max + "]}"), "(hole)"},
      {with_entry("{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"x\":" + std::string(126, '[') +
                  std::string(126, ']') + "}"),
       "JSON is nested deeper than 127 levels"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
           "1234"),
       "tensor 'b' has data bytes [1, 4): they overlap tensor 'a' with [0, 4)"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
           "1234"),
       "overlap"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
           "1234"),
       "overlap"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})",
           "1234"),
       "tensor 'b' has data bytes [3, 4): nothing owns the bytes [1, 3) before it (hole)"},
      {file_of(R"({"__metadata__":[]})"), "__metadata__ is an array, not an object of strings"},
      {file_of(R"({"__metadata__":{"step":1}})"), "__metadata__ 'step' is an integer, not a string"},
      {file_of(R"({"__metadata__":{"step":null}})"), "__metadata__ 'step' is null, not a string"},
      {file_of(R"({"__metadata__":{"step":{}}})"), "__metadata__ 'step' is an object, not a string"},
      {file_of(R"({"__metadata__":{},"__metadata__":{}})"), "__metadata__ is there twice"},
  };
  for (const BadFile& bad : cases) {
    EXPECT_THAT(read(bad.bytes), FailsWith(Code::kDataLoss, bad.message)) << bad.bytes;
    EXPECT_THAT(read(bad.bytes), FailsWith(Code::kDataLoss, ::testing::StartsWith("m.safetensors: "))) << bad.bytes;
  }
}

// Where shardwise refuses what the reference implementation takes; docs/formats/safetensors.md lists the same.
TEST(Safetensors, IsStricterThanTheReferenceHere) {
  constexpr std::string_view kEntry = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  std::string rank_65 = "1";
  for (int i = 0; i < 64; ++i) rank_65 += ",1";
  const std::vector<BadFile> cases = {
      {file_of(format("{{\"a\":{},\"a\":{}}}", kEntry, kEntry), "1234"), "overlap"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       "tensor 'a' is there twice"},
      {file_of(R"({"__metadata__":{"x":"1","x":"1"}})"), "__metadata__ has the key 'x' twice"},
      {file_of(format("{{\"a\\u0000b\":{}}}", kEntry), "1234"), "holds a NUL"},
      {with_entry(format(R"({{"dtype":"F32","shape":[{}],"data_offsets":[0,4]}})", rank_65)),
       "rank is above the limit"},
      {file_of(R"({"a":{"dtype":"U8","shape":[9223372036854775808,0],"data_offsets":[0,0]}})"), "over 2^63-1"},
      {file_of(R"({"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})"), "2^63"},
  };
  for (const BadFile& bad : cases) EXPECT_THAT(read(bad.bytes), FailsWith(Code::kDataLoss, bad.message)) << bad.bytes;
}

TEST(Safetensors, KeepsToItsCaps) {
  const std::string file = file_of(kTwo, std::string(20, 'x'));
  EXPECT_THAT(read(file, {.max_header_bytes = kTwo.size(), .max_tensors = 3}), IsOk());
  EXPECT_THAT(read(file, {.max_header_bytes = kTwo.size() - 1}),
              FailsWith(Code::kResourceExhausted, "max_header_bytes"));
  EXPECT_THAT(read(file, {.max_tensors = 2}), FailsWith(Code::kResourceExhausted, "more than 2 tensors"));
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string file = file_of(kTwo, std::string(20, 'x'));
  ASSERT_THAT(read(file), IsOk());
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_THAT(read(file.substr(0, size)), FailsWith(Code::kDataLoss, "truncated download?")) << size;
  }
  EXPECT_THAT(read(file + "x"), FailsWith(Code::kDataLoss, "1 bytes follow the last tensor"));
}

// A cut inside the data names the first tensor that is not whole, not the last of the file.
TEST(Safetensors, NamesTheTensorThatIsCut) {
  EXPECT_THAT(read(file_of(kTwo, std::string(7, 'x'))),
              FailsWith(Code::kDataLoss, "tensor 'scalar' needs data bytes [0, 8) but the data ends at 7: 13 bytes"));
}

TEST(Safetensors, ReadsTheHeaderAndNothingElse) {
  const auto memory = std::make_shared<MemoryFile>("m", file_of(kTwo, std::string(20, 'x')));
  const FaultyFile counted(memory);
  ASSERT_THAT(read_safetensors("m", counted, {}), IsOk());
  EXPECT_EQ(counted.bytes_read(), 8 + kTwo.size());
}

TEST(Safetensors, PassesOnWhatReadingSays) {
  const auto memory = std::make_shared<MemoryFile>("m", file_of(kTwo, std::string(20, 'x')));
  EXPECT_THAT(read_safetensors("m", FaultyFile(memory, {.io_error = ByteRange{0, 1}}), {}),
              FailsWith(Code::kUnavailable, ::testing::Not(::testing::HasSubstr("m: m: "))));
  EXPECT_THAT(read_safetensors("m", FaultyFile(memory, {.io_error = ByteRange{9, 10}}), {}),
              FailsWith(Code::kUnavailable));
  EXPECT_THAT(read_safetensors("m", FaultyFile(memory, {.shrinks_at = 1, .shrunk_size = 50}), {}),
              FailsWith(Code::kDataLoss));
}

TEST(Safetensors, MakesNamesSafeForMessages) {
  EXPECT_THAT(read(file_of("{\"a\\n\\u001b\":1}")),
              FailsWith(Code::kDataLoss, ::testing::Not(::testing::HasSubstr("\n"))));
}

}  // namespace
}  // namespace shardwise
