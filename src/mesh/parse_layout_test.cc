#include <gtest/gtest.h>

#include "mesh/layout_json.h"
#include "shardwise/layout.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StrEq;

DeviceMesh two_by_four() { return DeviceMesh({2, 4}, {"batch", "model"}, abstract_devices(8)); }
Result<Distribution> parse(const std::string& json, LayoutMapOptions options = {}) {
  return parse_layout(json, two_by_four(), options);
}

TEST(ParseLayout, LongForm) {
  const auto layout = parse(R"({"uneven": "replicate", "rules": {"b.*": ["model", null], "a": ["batch+model"], "c": []},
                               "dialect": "search"})");
  ASSERT_THAT(layout, IsOk());
  const auto& rules = layout->rules()->rules();
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].key, "b.*");
  EXPECT_EQ(rules[0].layout, (TensorLayout{"model", std::nullopt}));
  EXPECT_EQ(rules[1].key, "a");
  EXPECT_EQ(rules[1].layout, (TensorLayout{"batch+model"}));
  EXPECT_EQ(rules[2].layout, TensorLayout());
  EXPECT_EQ(layout->rules()->options().dialect, MatchDialect::kSearch);
  EXPECT_EQ(layout->uneven(), Uneven::kReplicate);
  EXPECT_EQ(layout->kind(), Distribution::Kind::kModelParallel);
}

TEST(ParseLayout, ShortForm) {
  const auto layout = parse(R"({"rules": ["model"], "dialect": ["batch"], "x": [null, "model"]})",
                            {.dialect = MatchDialect::kSearch, .uneven = Uneven::kReplicate});
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->rules()->rules().size(), 3u);
  EXPECT_EQ(layout->rules()->rules()[0].key, "rules");
  EXPECT_EQ(layout->rules()->options().dialect, MatchDialect::kSearch);
  EXPECT_EQ(layout->uneven(), Uneven::kReplicate);
  EXPECT_THAT(parse("{}"), IsOk());
}

struct Case {
  std::string json;
  std::string message;
};
class ParseLayoutRefuses : public ::testing::TestWithParam<Case> {};

TEST_P(ParseLayoutRefuses, WithThePlace) {
  EXPECT_THAT(parse(GetParam().json), FailsWith(Code::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseLayoutRefuses,
    ::testing::Values(
        Case{"", "layout: line 1, column 1: not JSON: syntax error"},
        Case{"{\"a\": [\n  \"model\",\n  nul]}", "layout: line 3, column 6: not JSON: syntax error"},
        Case{"{\"a\": [null]} x", "line 1, column 15: not JSON"},
        Case{"{\"a\": [null],}", "line 1, column 14: not JSON"}, Case{"{\"a\": [\"\xff\"]}", "not JSON"},
        Case{"[]", "line 1, column 1: an array; expected an object of rules"},
        Case{"3", "a number; expected an object of rules"},
        Case{R"({"rules": {}, "rule": [], "x": "y"})",
             "layout: line 1, column 15: unknown key 'rule'; known keys: rules, dialect, uneven\n"
             "line 1, column 27: unknown key 'x'; known keys: rules, dialect, uneven"},
        Case{R"({"rules": {}, "rules": {}})", "line 1, column 15: key 'rules' is given twice"},
        Case{R"({"rules": {}, "dialect": "search", "dialect": "search"})", "key 'dialect' is given twice"},
        Case{R"({"rules": {}, "uneven": "refuse", "uneven": "refuse"})", "key 'uneven' is given twice"},
        Case{R"({"rules": {}, "dialect": "match"})", "the value of 'dialect' is neither \"fullmatch\" nor \"search\""},
        Case{R"({"rules": {}, "uneven": "pad"})", "the value of 'uneven' is neither \"refuse\" nor \"replicate\""},
        Case{R"({"rules": {}, "uneven": ["refuse"]})", "the value of 'uneven' is neither"},
        Case{R"({"dialect": "search"})", "the value of rule 'dialect' is a string; expected an object of rules"},
        Case{R"({"a": null})", "the value of 'a' is null; expected an object of rules"},
        Case{R"({"a": {"b": []}})", "the value of 'a' is an object"},
        Case{R"({"rules": {"a": "model"}})", "the value of rule 'a' is a string; expected an array such as"},
        Case{R"({"rules": {"a": {}}})", "the value of rule 'a' is an object"},
        Case{R"({"rules": {"a": [["model"]]}})", "an array in a layout; its entries are axis names and null"},
        Case{R"({"a": [1]})", "line 1, column 9: a number in a layout"},
        Case{R"({"a": [true]})", "a boolean in a layout"},
        Case{"{\"x\": [null],\n \"a\\\"\": [\"nope\"],\n\"a\\\\\": [\"mo\"], \"x\": []}",
             "layout: line 2, column 2: Invalid axis names for Layout. Valid axis names: {'batch', 'model'}, Got "
             "{'nope'}\nline 3, column 1: Invalid axis names for Layout. Valid axis names: {'batch', 'model'}, Got "
             "{'mo'}\nline 3, column 16: x already exist in the LayoutMap"},
        Case{R"({"a": ["batch+nope"]})", "Got {'batch+nope'}"}, Case{R"({"a": ["batch+"]})", "Got {'batch+'}"},
        Case{R"({"a(": []})", "line 1, column 2: Layout key 'a(' cannot be used as a regular expression: missing )"}));

TEST(ParseLayout, LimitsSizesAndDepth) {
  EXPECT_THAT(parse(std::string((16 << 20) + 1, ' ')), FailsWith(Code::kInvalidArgument, "over the limit of 16777216"));
  EXPECT_THAT(parse(std::string(1 << 20, '[')), FailsWith(Code::kInvalidArgument, "an array; expected"));
  EXPECT_THAT(parse("{\"a\":" + std::string(1 << 20, '[')), FailsWith(Code::kInvalidArgument, "an array in a layout"));
  std::string wide = "{\"a\": [null";
  for (int i = 1; i < 64; ++i) wide += ", null";
  EXPECT_THAT(parse(wide + "]}"), IsOk());
  EXPECT_THAT(parse(wide + ", null]}"), FailsWith(Code::kInvalidArgument, "a layout of more than 64 entries"));
}

TEST(ParseLayout, ReportsAHundredProblemsAtMost) {
  std::string json = "{\"first\": [\"nope\"]";
  for (int i = 0; i < 5000; ++i) json += ", \"" + std::to_string(i) + "\": [\"nope\"]";
  const auto layout = parse(json + "}");
  ASSERT_FALSE(layout.ok());
  EXPECT_LT(layout.status().message().size(), 20'000u);
}

TEST(ParseLayout, NeedsAMesh) {
  EXPECT_THAT(parse_layout("{}", DeviceMesh({}, {}, {})), FailsWith(Code::kInvalidArgument, "cannot be empty"));
}

TEST(TextPosition, CountsLinesAndColumns) {
  EXPECT_EQ(text_position("ab\ncd", 0), "line 1, column 1");
  EXPECT_EQ(text_position("ab\ncd", 2), "line 1, column 3");
  EXPECT_EQ(text_position("ab\ncd", 4), "line 2, column 2");
  EXPECT_EQ(text_position("ab\ncd", 99), "line 2, column 3");
}

TEST(BuiltinLayout, UnknownNameListsTheKnown) {
  EXPECT_THAT(builtin_layout("gpt", two_by_four()),
              FailsWith(Code::kInvalidArgument,
                        StrEq("'gpt' is not a built-in layout; known: gemma, llama, bert, replicated, auto")));
  for (const std::string& name : builtin_layout_names()) EXPECT_THAT(builtin_layout(name, two_by_four()), IsOk());
}

TEST(BuiltinLayout, KindsAndOptions) {
  EXPECT_EQ(builtin_layout("auto", two_by_four())->kind(), Distribution::Kind::kAuto);
  EXPECT_EQ(builtin_layout("replicated", two_by_four())->kind(), Distribution::Kind::kDataParallel);
  const auto gemma =
      builtin_layout("gemma", two_by_four(), {.dialect = MatchDialect::kSearch, .uneven = Uneven::kReplicate});
  EXPECT_EQ(gemma->uneven(), Uneven::kReplicate);
  EXPECT_EQ(gemma->rules()->options().dialect, MatchDialect::kFullMatch);
  EXPECT_EQ(gemma->rules()->options().unmatched, UnmatchedRules::kIgnore);
  EXPECT_EQ(gemma->data_layout(1), TensorLayout{"batch"});
}

TEST(BuiltinLayout, AxesAreTheMeshs) {
  const DeviceMesh both({1, 2, 2}, {"data", "batch", "model"}, abstract_devices(4));
  EXPECT_EQ(builtin_layout("gemma", both)->data_layout(1), TensorLayout{"batch"});
  const DeviceMesh neither({4}, {"x"}, abstract_devices(4));
  EXPECT_THAT(builtin_layout("bert", neither),
              FailsWith(Code::kInvalidArgument,
                        AllOf(HasSubstr("'bert'"), HasSubstr("'model' and 'batch' (or 'data')"), HasSubstr("['x']"))));
  EXPECT_THAT(builtin_layout("auto", neither), IsOk());
  EXPECT_THAT(builtin_layout("auto", DeviceMesh({}, {}, {})), FailsWith(Code::kInvalidArgument, "cannot be empty"));
}

}  // namespace
}  // namespace shardwise
