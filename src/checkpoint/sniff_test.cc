#include "checkpoint/sniff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::Eq;

Result<Format> sniff_bytes(std::string_view bytes, const OpenOptions& options = {}) {
  return sniff(MemoryFile("m", bytes), options);
}

// A local header of a zip archive whose first member has this name.
std::string zip_with(std::string_view name) {
  std::string out("PK\x03\x04", 4);
  out.resize(30);
  out[26] = static_cast<char>(name.size());
  return out.append(name).append(64, 'x');
}

const std::string kHdf5("\x89HDF\r\n\x1a\n\0\0\0\0", 12);
const std::string kSafetensors("\x02\0\0\0\0\0\0\0{}", 10);

TEST(Sniff, KnowsFormatsByTheirContent) {
  EXPECT_THAT(sniff_bytes(kHdf5), IsOkAnd(Eq(Format::kHdf5)));
  EXPECT_THAT(sniff_bytes(std::string(512, 'u') + kHdf5), IsOkAnd(Eq(Format::kHdf5)));
  EXPECT_THAT(sniff_bytes(std::string(4096, '\0') + kHdf5), IsOkAnd(Eq(Format::kHdf5)));
  EXPECT_THAT(sniff_bytes(zip_with("metadata.json")), IsOkAnd(Eq(Format::kZip)));
  EXPECT_THAT(sniff_bytes(std::string("PK\x05\x06", 4) + std::string(18, '\0')), IsOkAnd(Eq(Format::kZip)));
  EXPECT_THAT(sniff_bytes("PK\x03\x04"), IsOkAnd(Eq(Format::kZip)));
  EXPECT_THAT(sniff_bytes(kSafetensors), IsOkAnd(Eq(Format::kSafetensors)));
  EXPECT_THAT(sniff_bytes(std::string("\x04\0\0\0\0\0\0\0 \n{}", 12)), IsOkAnd(Eq(Format::kSafetensors)));
}

// An HDF5 signature inside the data of a safetensors file does not make it HDF5.
TEST(Sniff, TheBeginningWins) {
  std::string file = kSafetensors;
  file.resize(512);
  EXPECT_THAT(sniff_bytes(file + kHdf5), IsOkAnd(Eq(Format::kSafetensors)));
}

TEST(Sniff, TellsIndexesApart) {
  const auto with = [](std::string_view map) {
    return sniff_bytes("\n {\"metadata\":{\"weight_map\":{\"x\":\"y.h5\"}},\"weight_map\":" + std::string(map) + "}");
  };
  EXPECT_THAT(with(R"({"a":"m-1.safetensors"})"), IsOkAnd(Eq(Format::kSafetensorsIndex)));
  EXPECT_THAT(with(R"({"/layers/d/vars":"m_0.weights.h5"})"), IsOkAnd(Eq(Format::kKerasIndex)));
  EXPECT_THAT(with(R"({"/layers/d/vars":["m_0.weights.h5"]})"), IsOkAnd(Eq(Format::kKerasIndex)));
  EXPECT_THAT(with(R"({"a":1})"), IsOkAnd(Eq(Format::kSafetensorsIndex)));  // whose reader says what is wrong
  EXPECT_THAT(with("{}"), FailsWith(Code::kDataLoss, "JSON without a weight_map that names tensors"));
  EXPECT_THAT(sniff_bytes(R"({"architectures":["X"]})"), FailsWith(Code::kDataLoss, "JSON without a weight_map"));
  EXPECT_THAT(sniff_bytes(R"({"a":)"), FailsWith(Code::kDataLoss, "not valid JSON at byte"));
  EXPECT_THAT(sniff_bytes(R"({"a":1})", {.max_header_bytes = 6}),
              FailsWith(Code::kResourceExhausted, "JSON of 7 bytes"));
}

struct Other {
  std::string bytes;
  Code code;
  const char* message;
};

TEST(Sniff, SaysWhatOtherFilesAre) {
  const std::vector<Other> cases = {
      {"", Code::kDataLoss, "the file is empty (0 bytes"},
      {"hello there", Code::kDataLoss, "a text file, not a checkpoint; it begins with 'hello there'"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0", Code::kDataLoss, "git lfs pull"},
      {"<!DOCTYPE html><html>", Code::kDataLoss, "a web page"},
      {std::string(4096, '\0'), Code::kDataLoss, "begins with zeros only: 4096 bytes that were never written"},
      {std::string("\x80\x02}q\0", 5), Code::kUnimplemented, "Python pickle"},
      {std::string("\x80\x05\x95\0", 4), Code::kUnimplemented, "Python pickle"},
      {zip_with("archive/data.pkl"), Code::kUnimplemented, "PyTorch archive (pickle)"},
      {zip_with("arr_0.npy"), Code::kUnimplemented, ".npz"},
      {std::string("GGUF\x03\0\0\0", 8), Code::kUnimplemented, "GGUF"},
      {std::string("\x93NUMPY\x01\0", 8), Code::kUnimplemented, ".npy"},
      {std::string("\x1f\x8b\x08\0", 4), Code::kUnimplemented, "gzip"},
      {std::string("\x01\x02\x03", 3), Code::kDataLoss, "not a checkpoint of a known format"},
      {std::string("\x02\0\0\0\0\0\0\0[]", 10), Code::kDataLoss, "not a checkpoint of a known format"},
      {std::string("\0\0\0\0\0\0\0\x7f{}", 10), Code::kDataLoss, "not a checkpoint of a known format"},
      {"\x89HDF\r\n\x1a", Code::kDataLoss, "not a checkpoint of a known format"},
  };
  for (const Other& other : cases) {
    EXPECT_THAT(sniff_bytes(other.bytes), FailsWith(other.code, other.message)) << other.bytes;
  }
}

}  // namespace
}  // namespace shardwise
