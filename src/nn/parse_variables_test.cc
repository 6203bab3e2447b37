#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "shardwise/shape.h"
#include "shardwise/variables.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

Result<VariableTree> parse(const std::string& text) {
  PythonRandom seeds(1337);
  return parse_variables(text, seeds);
}

// One variable with more keys.
std::string with(const std::string& more) { return R"({"variables": [{"name": "v", "shape": [4, 2])" + more + "}]}"; }

TEST(ParseVariables, ReadsTheWholeSchema) {
  const auto tree = parse(R"({"variables": [
    {"name": "dense/kernel", "shape": [64, 32], "dtype": "bfloat16", "rounding": "jit",
     "initializer": {"module": "keras.initializers", "class_name": "GlorotUniform", "config": {"seed": 42},
                     "registered_name": null}},
    {"name": "dense/bias", "shape": []},
    {"name": "moved", "shape": [8], "rounding": "keras",
     "initializer": {"class_name": "RandomUniform", "config": {"minval": -1, "maxval": 0.5, "seed": 3}}},
    {"name": "named", "shape": [3], "initializer": "ones"}]})");
  ASSERT_THAT(tree, IsOk());
  ASSERT_EQ(tree->variables.size(), 4u);
  EXPECT_EQ(tree->parameters(), 64u * 32 + 1 + 8 + 3);
  const Variable& kernel = tree->variables[0];
  EXPECT_EQ(kernel.path, "dense/kernel");
  EXPECT_EQ(kernel.initial.shape, (Shape{64, 32}));
  EXPECT_EQ(kernel.dtype, DType::kBfloat16);
  EXPECT_EQ(kernel.initial.rounding, Rounding::kJit);
  EXPECT_EQ(kernel.initial.initializer, glorot_uniform({.seed = 42}));
  EXPECT_EQ(tree->variables[1].dtype, std::nullopt);
  EXPECT_EQ(tree->variables[1].initial.initializer, zeros());
  EXPECT_EQ(tree->variables[1].initial.rounding, Rounding::kEager);
  EXPECT_EQ(tree->variables[2].initial.rounding, std::nullopt);
  EXPECT_EQ(tree->variables[2].initial.initializer, random_uniform({.minval = -1, .maxval = 0.5, .seed = 3}));
  EXPECT_EQ(tree->variables[3].initial.initializer, ones());
}

TEST(ParseVariables, ListsAndBooleansReachTheInitializer) {
  const auto tree = parse(R"({"variables": [
    {"name": "q", "shape": [4, 8, 2], "initializer": {"class_name": "VarianceScaling",
     "config": {"seed": 1, "input_axes": [-2], "output_axes": [0, 2], "distribution": "uniform"}}},
    {"name": "stft", "shape": [4, 1, 8], "initializer": {"class_name": "STFT", "config": {"periodic": true}}}]})");
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->variables[0].initial.initializer, variance_scaling({.distribution = VarianceDistribution::kUniform,
                                                                      .seed = 1,
                                                                      .input_axes = std::vector{-2},
                                                                      .output_axes = std::vector{0, 2}}));
  EXPECT_EQ(tree->variables[1].initial.initializer, stft({.periodic = true}));
}

// random.seed(1337) draws 663307073, 993786079, ... (CPython).
TEST(ParseVariables, SeedsAreDrawnInTheOrderOfTheText) {
  const auto tree = parse(R"({"variables": [
    {"name": "a", "shape": [2], "initializer": "glorot_uniform"}, {"name": "b", "shape": [2], "initializer": "zeros"},
    {"name": "c", "shape": [2], "initializer": {"class_name": "HeNormal", "config": {"seed": 5}}},
    {"name": "d", "shape": [2], "initializer": {"class_name": "HeNormal", "config": {"seed": null}}}]})");
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->variables[0].initial.initializer.seed(), Seed(663307073));
  EXPECT_EQ(tree->variables[2].initial.initializer.seed(), Seed(5));
  EXPECT_EQ(tree->variables[3].initial.initializer.seed(), Seed(993786079));
}

TEST(ParseVariables, RefusesWhatIsNotASpecAndSaysWhere) {
  struct Case {
    std::string text;
    std::string says;
    Code code = Code::kInvalidArgument;
  };
  const std::string deep = std::string(200, '[');
  const Case cases[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {deep, "not an object"},
      {"[]", "not an object"},
      {"3", "not an object"},
      {"{}", "no \"variables\""},
      {R"({"variables": []})", "empty"},
      {R"({"variables": {}})", "not an array"},
      {R"({"variables": 1})", "not an array"},
      {R"({"other": []})", "unknown key 'other'"},
      {R"({"variables": [], "variables": []})", "twice"},
      {R"({"variables": [1]})", "variable 0 is"},
      {R"({"variables": [[]]})", "variable 0 is an array"},
      {R"({"variables": [{}]})", "no name"},
      {R"({"variables": [{"name": "v"}]})", "variable 0 'v' has no shape"},
      {R"({"variables": [{"name": "", "shape": []}]})", "1 to 4096 bytes"},
      {R"({"variables": [{"name": "a\u0000b", "shape": []}]})", "NUL"},
      {R"({"variables": [{"name": 1, "shape": []}]})", "not a string"},
      {R"({"variables": [{"name": "v", "shape": 3}]})", "an array of sizes"},
      {R"({"variables": [{"name": "v", "shape": [-3]}]})", "no size"},
      {R"({"variables": [{"name": "v", "shape": [1.5]}]})", "no size"},
      {R"({"variables": [{"name": "v", "shape": [[1]]}]})", "not a list"},
      {R"({"variables": [{"name": "v", "shape": [18446744073709551615]}]})", "no size"},
      {R"({"variables": [{"name": "v", "shape": [4294967296, 4294967296]}]})", "variable 0 'v'"},
      {R"({"variables": [{"name": "v", "shape": [1]}, {"name": "v", "shape": [1]}]})", "'v' occurs twice"},
      {with(R"(, "color": 1)"), "unknown key 'color'"},
      {with(R"(, "shape": [1])"), "'shape' occurs twice"},
      {with(R"(, "dtype": "float31")"), "unknown dtype 'float31'"},
      {with(R"(, "dtype": "int4")"), "int4", Code::kUnimplemented},
      {with(R"(, "dtype": 3)"), "not a string"},
      {with(R"(, "rounding": "down")"), "none of eager, jit, keras"},
      {with(R"(, "initializer": "Nonsense")"), "Nonsense"},
      {with(R"(, "initializer": 3)"), "not a string"},
      {with(R"(, "initializer": [])"), "not a string"},
      {with(R"(, "initializer": {"class_name": 3})"), "not a string"},
      {with(R"(, "initializer": {"class_name": "Zeros", "config": 3})"), "not an object"},
      {with(R"(, "initializer": {"class_name": "Zeros", "config": []})"), "not an object"},
      {with(R"(, "initializer": {"class_name": "Zeros", "other": 1})"), "unknown key 'other'"},
      {with(R"(, "initializer": {"class_name": "RandomNormal", "config": {"seed": {"a": 1}}})"), "a list of numbers"},
      {with(R"(, "initializer": {"class_name": "RandomNormal", "config": {"seed": 1, "seed": 2}})"),
       "'seed' occurs twice"},
      {with(R"(, "initializer": {"class_name": "RandomNormal", "config": {"stdev": 1}})"), "stdev"},
      {with(R"(, "initializer": {"class_name": "STFT", "config": {"window": ["a"]}})"), "not a number"},
      {with(R"(, "initializer": {"class_name": "STFT", "config": {"window": [[1]]}})"), "a list of numbers"},
  };
  for (const Case& c : cases) EXPECT_THAT(parse(c.text), FailsWith(c.code, c.says)) << c.text;
}

TEST(ParseVariables, LimitsHold) {
  std::string shape = "1";
  for (int i = 0; i < 64; ++i) shape += ", 1";
  EXPECT_THAT(parse(R"({"variables": [{"name": "v", "shape": [)" + shape + "]}]}"),
              FailsWith(Code::kInvalidArgument, "more than 64 dimensions"));
  EXPECT_THAT(parse(std::string((16 << 20) + 1, ' ')), FailsWith(Code::kResourceExhausted, "over the limit"));
  std::string list = "0";
  for (int i = 0; i < 1 << 16; ++i) list += ",0";
  EXPECT_THAT(parse(with(R"(, "initializer": {"class_name": "STFT", "config": {"window": [)" + list + "]}}")),
              FailsWith(Code::kInvalidArgument, "more than 65536 items"));
}

// Texts one splice away from a good one: characters that JSON gives a meaning, numbers at the limits, pieces moved.
TEST(ParseVariables, ChangedTextsGiveAStatusOrVariablesThatCanBeBound) {
  const std::string good = with(R"(, "dtype": "bfloat16", "rounding": "keras", "initializer": {"class_name":
    "VarianceScaling", "config": {"scale": 0.5, "mode": "fan_in", "distribution": "uniform", "seed": 42}}}, {"name": "w",
    "shape": [3], "initializer": "zeros")");
  ASSERT_THAT(parse(good), IsOk());
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           "\"",
                                           "\\",
                                           ",",
                                           ":",
                                           "-",
                                           "1e999",
                                           "-1",
                                           "0",
                                           "null",
                                           "true",
                                           "9223372036854775807",
                                           "18446744073709551616",
                                           "\\ud800",
                                           "\xff",
                                           R"({"a": 1})"};
  std::mt19937 random(3);
  std::size_t accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = good;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      const std::size_t erased = random() % 3 == 0 ? random() % 12 : random() % 2;
      const bool moves = random() % 4 == 0;
      text.replace(at, erased,
                   moves ? good.substr(random() % good.size(), random() % 20) : pieces[random() % pieces.size()]);
    }
    const auto tree = parse(text);
    if (!tree.ok()) {
      EXPECT_NE(tree.status().code(), Code::kInternal) << text << "\n" << tree.status().message();
      continue;
    }
    ++accepted;
    for (const Variable& variable : tree->variables) {
      EXPECT_THAT(element_count(variable.initial.shape), IsOk()) << text;
      EXPECT_FALSE(variable.path.empty()) << text;
    }
  }
  EXPECT_GT(accepted, 10u);  // else the changes are too coarse to reach anything
}

}  // namespace
}  // namespace shardwise
