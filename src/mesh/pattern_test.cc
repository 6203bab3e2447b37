// The dialect itself is compared with Python in tests/mesh/test_patterns.py.
#include "mesh/pattern.h"

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;

bool matches(const Pattern& pattern, std::string_view path) {
  MatchScratch scratch;
  std::string storage;
  const std::string_view subject = utf8_path(path, storage);
  if (!pattern.may_match(subject)) return false;
  const auto result = pattern.matches(subject, scratch);
  EXPECT_THAT(result, IsOk());
  return result.ok() && *result;
}

bool matches(std::string_view key, std::string_view path, MatchDialect dialect = MatchDialect::kFullMatch) {
  const auto pattern = Pattern::compile(key, dialect);
  EXPECT_THAT(pattern, IsOk()) << key;
  return pattern.ok() && matches(*pattern, path);
}

TEST(Pattern, DialectsDiffer) {
  EXPECT_TRUE(matches("dense.*kernel", "sequential/dense/kernel", MatchDialect::kSearch));
  EXPECT_FALSE(matches("dense.*kernel", "sequential/dense/kernel"));
  EXPECT_TRUE(matches("a|ab", "ab"));  // the whole path, if need be by another branch
}

TEST(Pattern, BytesThatAreNoTextAreOneCharacterEach) {
  EXPECT_TRUE(matches("a.b",
                      "a\xff"
                      "b"));
  EXPECT_TRUE(matches("a..b",
                      "a\xff\xc3"
                      "b"));
  EXPECT_TRUE(matches("a[^/]b",
                      "a\xff"
                      "b"));
  EXPECT_FALSE(matches("a\\wb",
                       "a\xff"
                       "b"));
  EXPECT_FALSE(matches("a\\sb",
                       "a\xff"
                       "b"));
  EXPECT_TRUE(matches("a.b", std::string_view("a\0b", 3)));
}

TEST(Pattern, KeysAreCapped) {
  EXPECT_THAT(Pattern::compile(std::string(kMaxPatternBytes, 'a'), MatchDialect::kFullMatch), IsOk());
  EXPECT_THAT(Pattern::compile(std::string(kMaxPatternBytes + 1, 'a'), MatchDialect::kFullMatch),
              FailsWith(Code::kInvalidArgument, "4097 bytes, over the limit of 4096"));
}

TEST(Pattern, KeysMustBeText) {
  EXPECT_THAT(Pattern::compile("ab\xff", MatchDialect::kFullMatch),
              FailsWith(Code::kInvalidArgument, "byte 2 is not UTF-8"));
}

TEST(Pattern, HostileSizesAreRefused) {
  std::string nested;
  for (int i = 0; i < 201; ++i) nested += '(';
  for (int i = 0; i < 201; ++i) nested += ')';
  EXPECT_THAT(Pattern::compile(nested, MatchDialect::kFullMatch),
              FailsWith(Code::kInvalidArgument, "more than 200 nested groups"));
  EXPECT_THAT(Pattern::compile(nested.substr(1, 400), MatchDialect::kFullMatch), IsOk());
  EXPECT_THAT(Pattern::compile("(((a{999}){999}){999}){999}", MatchDialect::kFullMatch),
              FailsWith(Code::kInvalidArgument, "not supported"));
}

TEST(Pattern, EndlessMatchesAreGivenUp) {
  const auto pattern = Pattern::compile("(x+x+)+y", MatchDialect::kSearch);
  ASSERT_THAT(pattern, IsOk());
  MatchScratch scratch;
  EXPECT_THAT(pattern->matches(std::string(kMaxPathBytes, 'x'), scratch),
              FailsWith(Code::kResourceExhausted, "with layout pattern '(x+x+)+y' was given up"));
  EXPECT_THAT(pattern->matches("xxy", scratch), IsOk());  // the scratch is as good as new
}

TEST(Translation, FindsLiterals) {
  const auto literals = [](std::string_view key) { return translate_python_regex(key)->literals; };
  EXPECT_THAT(literals(".*dense.*kernel"), ElementsAre("dense", "kernel"));
  EXPECT_THAT(literals("abc?d"), ElementsAre("ab", "d"));
  EXPECT_THAT(literals("a*b(c)d"), ElementsAre("b", "d"));
  EXPECT_THAT(literals("a|b"), ElementsAre());
  EXPECT_THAT(literals("(?i)abc"), ElementsAre());
  EXPECT_THAT(literals("(?x) a b # c"), ElementsAre("ab"));
  EXPECT_TRUE(translate_python_regex("ab.*")->starts_with_literal);
  EXPECT_FALSE(translate_python_regex("ab.*")->ends_with_literal);
  EXPECT_FALSE(translate_python_regex("a?b.c")->starts_with_literal);
  EXPECT_TRUE(translate_python_regex("a?b.c")->ends_with_literal);
  EXPECT_FALSE(translate_python_regex("a$")->ends_with_literal);  // "a\n" matches too
}

TEST(Pattern, TheCheapTestRejects) {
  const auto full = Pattern::compile("ab.*ba", MatchDialect::kFullMatch);
  EXPECT_TRUE(full->may_match("abba"));
  EXPECT_FALSE(full->may_match("aba"));  // the two may not overlap
  EXPECT_FALSE(full->may_match("xabba"));
  const auto search = Pattern::compile("ab.*ba", MatchDialect::kSearch);
  EXPECT_TRUE(search->may_match("xabbax"));
  EXPECT_FALSE(search->may_match("baab"));
}

}  // namespace
}  // namespace shardwise
