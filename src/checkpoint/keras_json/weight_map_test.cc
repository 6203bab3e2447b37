#include "checkpoint/keras_json/weight_map.h"

#include <string>
#include <utility>

#include "base/format.h"
#include "testing/matchers.h"

namespace shardwise::keras {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;

Result<WeightMap> parse(const std::string& json) { return parse_weight_map(json, {}); }

TEST(WeightMap, ReadsWhatKerasWrites) {
  const auto map = parse(R"({
    "metadata": {"total_size": 300.0, "writer": ["x", {"y": 1}]},
    "weight_map": {
        "/layers/dense/vars": ["s_00001.weights.h5", "s_00000.weights.h5"],
        "/vars": "s_00002.weights.h5",
        "layers/conv": "s_00001.weights.h5"
    },
    "more": [1, null, true, {"weight_map": {}}]
  })");
  ASSERT_THAT(map, IsOk());
  EXPECT_THAT(map->files, ElementsAre("s_00000.weights.h5", "s_00001.weights.h5", "s_00002.weights.h5"));
  EXPECT_THAT(map->groups, ElementsAre(Pair("layers/conv/vars", ElementsAre(1u)),
                                       Pair("layers/dense/vars", ElementsAre(0u, 1u)), Pair("vars", ElementsAre(2u))));
  EXPECT_THAT(map->total_size, Optional(300.0));
}

TEST(WeightMap, AnEmptyMapIsAModelWithoutVariables) {
  const auto map = parse(R"({"metadata": {}, "weight_map": {}})");
  ASSERT_THAT(map, IsOk());
  EXPECT_TRUE(map->files.empty());
  EXPECT_FALSE(map->total_size.has_value());
}

TEST(WeightMap, RefusesAndSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {R"({"weight_map": {}} x)", "not valid JSON"},
      {R"({"weight_map": {"/vars": "a\xff"}})", "not valid JSON"},
      {R"({"metadata": {"total_size": NaN}, "weight_map": {}})", "not valid JSON"},
      {R"({"metadata": {"total_size": 1e999}, "weight_map": {}})", "not valid JSON"},
      {"[]", "the document is an array, not an object"},
      {"3", "the document is an integer, not an object"},
      {"{}", "there is no weight_map"},
      {R"({"metadata": {}})", "there is no weight_map"},
      {R"({"weight_map": []})", "weight_map is an array, not an object"},
      {R"({"weight_map": "a"})", "weight_map is a string, not an object"},
      {R"({"weight_map": null})", "weight_map is null, not an object"},
      {R"({"metadata": [], "weight_map": {}})", "metadata is an array"},
      {R"({"metadata": 1, "weight_map": {}})", "metadata is an integer"},
      {R"({"metadata": {"total_size": "9"}, "weight_map": {}})", "total_size is a string, not a number"},
      {R"({"metadata": {"total_size": [9]}, "weight_map": {}})", "total_size is an array, not a number"},
      {R"({"metadata": {"total_size": -1}, "weight_map": {}})", "total_size is -1, not a number"},
      {R"({"weight_map": {"/vars": 3}})", "weight_map entry '/vars': it names an integer, not a file"},
      {R"({"weight_map": {"/vars": null}})", "weight_map entry '/vars': it names null, not a file"},
      {R"({"weight_map": {"/vars": {"a": "b"}}})", "weight_map entry '/vars': it holds an object, not a file"},
      {R"({"weight_map": {"/vars": ["a", 3]}})", "weight_map entry '/vars': it names an integer, not a file"},
      {R"({"weight_map": {"/vars": ["a", ["b"]]}})", "weight_map entry '/vars': it holds an array, not a file"},
      {R"({"weight_map": {"/vars": []}})", "weight_map entry '/vars': it names no file"},
      {R"({"weight_map": {"/vars": ["a", "a"]}})", "weight_map entry '/vars': it names the file 'a' twice"},
      {R"({"weight_map": {"": "a"}})", "weight_map: '' names no group"},
      {R"({"weight_map": {"/": "a"}})", "weight_map: '/' names no group"},
      {R"({"weight_map": {"/vars": "a", "/vars": "b"}})", "weight_map: the group '/vars' occurs twice"},
      {R"({"weight_map": {"/a/vars": "a", "a": "b"}})", "weight_map: the group '/a/vars' occurs twice"},
      {R"({"weight_map": {}, "weight_map": {}})", "the key 'weight_map' occurs twice"},
      {R"({"metadata": {"total_size": 1, "total_size": 2}, "weight_map": {}})", "the key 'total_size' occurs twice"},
      {R"({"weight_map": {}, "x": )" + std::string(500, '[') + std::string(500, ']') + "}", "nested deeper"},
  };
  for (const auto& [json, message] : cases) EXPECT_THAT(parse(json), FailsWith(Code::kDataLoss, message)) << json;
}

TEST(WeightMap, FileNamesArePlain) {
  for (const std::string& name :
       {std::string("../w.h5"), std::string("a/w.h5"), std::string("/etc/passwd"), std::string("a\\\\w.h5"),
        std::string(".."), std::string("."), std::string(), std::string("w.h5\\u0000.txt"), std::string(300, 'w')}) {
    const std::string json = format(R"({{"weight_map": {{"/layers/dense/vars": ["ok.h5", "{}"]}}}})", name);
    EXPECT_THAT(parse(json), FailsWith(Code::kDataLoss, "weight_map entry '/layers/dense/vars': the file name"))
        << json;
  }
}

TEST(WeightMap, CapsItsEntries) {
  const std::string json = R"({"weight_map": {"/a/vars": ["1", "2"], "/b/vars": "1"}})";
  EXPECT_THAT(parse_weight_map(json, {.max_tensors = 3}), IsOk());
  EXPECT_THAT(parse_weight_map(json, {.max_tensors = 2}), FailsWith(Code::kResourceExhausted, "names files more than"));
  EXPECT_THAT(parse_weight_map(json, {.max_tensors = 1}), FailsWith(Code::kResourceExhausted));
  std::string many = R"({"weight_map": {"/a/vars": [)";
  for (int i = 0; i < 65537; ++i) many += format("{}\"{}\"", i == 0 ? "" : ",", i);
  EXPECT_THAT(parse(many + "]}}"), FailsWith(Code::kResourceExhausted, "more than 65536 files"));
}

}  // namespace
}  // namespace shardwise::keras
