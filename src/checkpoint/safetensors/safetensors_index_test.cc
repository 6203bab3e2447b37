#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/safetensors/testing.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using safetensors::file_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One uint8 tensor per name, of 4 bytes.
std::string shard(const std::vector<std::string>& names) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::size_t at = 0;
  for (const std::string& name : names) {
    json += format(",\"{}\":{{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[{},{}]}}", name, at, at + 4);
    at += 4;
  }
  return file_of(json + "}", std::string(at, 'x'));
}

// A checkpoint in the folder "d" of memory.
struct Files {
  std::map<std::string, std::string> bytes;

  Result<Catalog> read(std::string_view index, const OpenOptions& options = {}) const {
    const FileOpener open = [this](const std::string& path) -> Result<std::shared_ptr<const File>> {
      const auto found = bytes.find(path);
      if (found == bytes.end()) return not_found("{}: no such file", path);
      return std::shared_ptr<const File>(std::make_shared<MemoryFile>(path, found->second));
    };
    return read_safetensors_index("d/i.json", MemoryFile("d/i.json", index), open, options);
  }
};

const Files kTwoShards = {{{"d/1.safetensors", shard({"a", "b"})}, {"d/2.safetensors", shard({"c"})}}};
constexpr std::string_view kIndex = R"({"metadata":{"total_size":12,"by":"me"},)"
                                    R"("weight_map":{"c":"2.safetensors","b":"1.safetensors","a":"1.safetensors"}})";

TEST(SafetensorsIndex, PutsTheShardsTogether) {
  const auto catalog = kTwoShards.read(kIndex);
  ASSERT_THAT(catalog, IsOk());
  EXPECT_EQ(catalog->format, "safetensors-index");
  EXPECT_EQ(catalog->path, "d/i.json");
  EXPECT_EQ(catalog->metadata, (std::map<std::string, std::string>{{"format", "pt"}, {"by", "me"}}));
  EXPECT_THAT(catalog->warnings, IsEmpty());
  ASSERT_EQ(catalog->files.size(), 2u);
  EXPECT_EQ(catalog->files[0].path, "d/1.safetensors");
  EXPECT_EQ(catalog->files[1].path, "d/2.safetensors");
  std::vector<std::string> where;
  for (const TensorInfo& t : catalog->tensors) where.push_back(format("{} in {}", t.name, t.extents.at(0).file));
  EXPECT_THAT(where, ElementsAre("a in 0", "b in 0", "c in 1"));
  EXPECT_THAT(validate(*catalog), IsOk());
}

TEST(SafetensorsIndex, WarnsOfTotalSizeAndLeftOverTensors) {
  const auto warnings = [](std::string_view metadata, std::string_view map) {
    const auto catalog = kTwoShards.read(format(R"({{"metadata":{},"weight_map":{{{}}}}})", metadata, map));
    EXPECT_THAT(catalog, IsOk());
    return catalog.ok() ? catalog->warnings : std::vector<std::string>{};
  };
  constexpr std::string_view kAll = R"("c":"2.safetensors","b":"1.safetensors","a":"1.safetensors")";
  EXPECT_THAT(warnings(R"({"total_size":12.0})", kAll), IsEmpty());
  EXPECT_THAT(warnings("{}", kAll), IsEmpty());
  EXPECT_THAT(warnings("null", kAll), IsEmpty());
  EXPECT_THAT(warnings(R"({"total_size":13})", kAll),
              ElementsAre("metadata.total_size is 13 but the tensors take 12 bytes"));
  EXPECT_THAT(warnings(R"({"total_size":-1e300})", kAll), ElementsAre(HasSubstr("but the tensors take 12 bytes")));
  EXPECT_THAT(warnings(R"({"total_size":"12"})", kAll), ElementsAre("metadata.total_size is a string, not a number"));
  EXPECT_THAT(warnings(R"([{"total_size":1}])", kAll),
              ElementsAre("metadata is an array, not an object; it is ignored"));
  EXPECT_THAT(warnings("{}", R"("b":"1.safetensors","c":"2.safetensors")"),
              ElementsAre("1 stored tensors are not in weight_map and left out, first 'a' in 1.safetensors"));
}

struct BadIndex {
  std::string json;
  const char* message;
};

TEST(SafetensorsIndex, RefusesMalformedIndexes) {
  const auto map = [](std::string_view entries) { return format(R"({{"weight_map":{{{}}}}})", entries); };
  const std::vector<BadIndex> cases = {
      {"", "not valid JSON"},
      {"[]", "the index is an array, not a JSON object"},
      {"3", "the index is an integer, not a JSON object"},
      {"{}", "there is no weight_map"},
      {R"({"weight_map":{}})", "weight_map names no tensor"},
      {R"({"weight_map":null})", "weight_map is null, not an object"},
      {R"({"weight_map":["a"]})", "weight_map is an array, not an object"},
      {R"({"weight_map":{"a":"1.safetensors"},"weight_map":{"b":"1.safetensors"}})", "'weight_map' is there twice"},
      {R"({"metadata":{},"metadata":{},"weight_map":{"a":"1.safetensors"}})", "'metadata' is there twice"},
      {map(R"("a":1)"), "weight_map 'a' is an integer, not the name of a file"},
      {map(R"("a":["1.safetensors"])"), "weight_map 'a' is an array, not the name of a file"},
      {map(R"("a":null)"), "weight_map 'a' is null"},
      {map(R"("a":"1.safetensors","a":"1.safetensors","b":"1.safetensors")"), "weight_map names tensor 'a' twice"},
      {map(R"("a":"../1.safetensors")"), "the file name '../1.safetensors' holds a path separator"},
      {map(R"("a":"/etc/passwd")"), "holds a path separator"},
      {map(R"("a":"..")"), "is a folder"},
      {map(R"("a":"")"), "is empty"},
      {map(R"("a":"1\u0000.safetensors")"), "NUL"},
      {map(R"("a":"2.safetensors","b":"1.safetensors","c":"2.safetensors")"),
       "tensor 'a' is stored in 1.safetensors although weight_map puts it in 2.safetensors"},
      {map(R"("a":"1.safetensors","b":"1.safetensors","d":"2.safetensors")"),
       "weight_map puts tensor 'd' in 2.safetensors, which does not hold it"},
  };
  for (const BadIndex& bad : cases) {
    EXPECT_THAT(kTwoShards.read(bad.json), FailsWith(Code::kDataLoss, HasSubstr(bad.message))) << bad.json;
    EXPECT_THAT(kTwoShards.read(bad.json), FailsWith(Code::kDataLoss, ::testing::StartsWith("d/i.json: "))) << bad.json;
  }
}

TEST(SafetensorsIndex, RefusesATensorThatIsInTwoFiles) {
  Files files = kTwoShards;
  files.bytes["d/2.safetensors"] = shard({"a", "c"});
  EXPECT_THAT(files.read(kIndex), FailsWith(Code::kDataLoss, "tensor 'a' is stored in 2.safetensors although"));
}

TEST(SafetensorsIndex, CountsMissingShards) {
  Files files = kTwoShards;
  files.bytes.erase("d/2.safetensors");
  EXPECT_THAT(files.read(kIndex), FailsWith(Code::kNotFound,
                                            "d/i.json: 1 of the 2 files that weight_map names are "
                                            "missing, first d/2.safetensors (incomplete download?)"));
  files.bytes.clear();
  EXPECT_THAT(files.read(kIndex), FailsWith(Code::kNotFound, "2 of the 2 files"));
}

TEST(SafetensorsIndex, NamesTheShardThatIsDamaged) {
  Files files = kTwoShards;
  files.bytes["d/2.safetensors"].pop_back();
  EXPECT_THAT(files.read(kIndex),
              FailsWith(Code::kDataLoss, "d/i.json: d/2.safetensors: tensor 'c' needs data bytes [0, 4)"));
}

TEST(SafetensorsIndex, KeepsToItsCaps) {
  EXPECT_THAT(kTwoShards.read(kIndex, {.max_tensors = 3}), IsOk());
  EXPECT_THAT(kTwoShards.read(kIndex, {.max_tensors = 2}), FailsWith(Code::kResourceExhausted, "more than 2 tensors"));
  EXPECT_THAT(kTwoShards.read(kIndex, {.max_header_bytes = kIndex.size() - 1}),
              FailsWith(Code::kResourceExhausted, "max_header_bytes"));
  // The shards together may not hold more either, mapped or not.
  Files files = kTwoShards;
  files.bytes["d/2.safetensors"] = shard({"c", "e"});
  EXPECT_THAT(files.read(kIndex, {.max_tensors = 3}),
              FailsWith(Code::kResourceExhausted, "its files hold more than 3 tensors"));
}

}  // namespace
}  // namespace shardwise
