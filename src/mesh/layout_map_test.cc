#include <gtest/gtest.h>

#include <thread>

#include "shardwise/layout.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;
using ::testing::StrEq;

DeviceMesh two_by_four() { return DeviceMesh({2, 4}, {"data", "model"}, abstract_devices(8)); }
TensorLayout by(const char* axis) { return TensorLayout{Axis(axis)}; }

TEST(TensorLayout, PrintsAsATuple) {
  EXPECT_EQ(to_string(TensorLayout()), "()");
  EXPECT_EQ(to_string(TensorLayout{"model"}), "('model',)");
  EXPECT_EQ(to_string(TensorLayout{"model", std::nullopt}), "('model', None)");
  EXPECT_TRUE((TensorLayout{std::nullopt, std::nullopt}).is_replicated());
  EXPECT_FALSE((TensorLayout{std::nullopt, "model"}).is_replicated());
}

TEST(LayoutMap, ExactKeyWinsOverPatterns) {
  LayoutMap map(two_by_four());
  map.set(".*kernel", by("data")).set("dense/kernel", by("model")).set("dense.*", by("data"));
  EXPECT_THAT(map.find("dense/kernel"), IsOkAnd(Optional(by("model"))));
  EXPECT_THAT(map.find_rule("dense/kernel"), IsOkAnd(Optional(std::size_t{1})));
  EXPECT_THAT(map.find("conv/kernel"), IsOkAnd(Optional(by("data"))));
  EXPECT_THAT(map.find("conv/bias"), IsOkAnd(Eq(std::nullopt)));
}

TEST(LayoutMap, AmbiguousPathIsAnErrorInKerassWords) {
  LayoutMap map(two_by_four());
  map.set(".*kernel", by("data")).set(R"(dense_\d+/.*)", by("model")).set("other", by("model"));
  EXPECT_THAT(
      map.find("dense_1/kernel"),
      FailsWith(Code::kInvalidArgument,
                StrEq(R"(Path 'dense_1/kernel' matches multiple layout specification keys: ['.*kernel', )"
                      R"('dense_\\d+/.*']. Please make sure each tensor/variable path only matches at most one )"
                      R"(layout specification key in the LayoutMap.)")));
}

TEST(LayoutMap, AllProblemsAreReportedTogether) {
  LayoutMap map(two_by_four());
  map.set("a", {"model", std::nullopt}).set("a", by("data")).set("b", {"model", "nope"}).set("c(", by("data"));
  map.set("b", by("data"));  // the refused rule is not in the map, so this is no duplicate
  const char* expected =
      "a already exist in the LayoutMap with value <TensorLayout axes=('model', None), device_mesh=<DeviceMesh "
      "shape=(2, 4), axis_names=['data', 'model']>>. Please make sure to not use duplicated keys.\n"
      "Invalid axis names for Layout. Valid axis names: {'data', 'model'}, Got {'model', 'nope'}\n"
      "Layout key 'c(' cannot be used as a regular expression: missing ), unterminated subpattern at position 1";
  EXPECT_THAT(map.status(), FailsWith(Code::kInvalidArgument, StrEq(expected)));
  EXPECT_THAT(map.find("a"), FailsWith(Code::kInvalidArgument, StrEq(expected)));
  EXPECT_EQ(map.rules().size(), 2u);
}

TEST(LayoutMap, CombinedAxesAreNotKerass) {
  LayoutMap map(two_by_four());
  map.set("a", by("data+model"));
  EXPECT_THAT(map.status(), FailsWith(Code::kInvalidArgument, "Got {'data+model'}"));
}

TEST(LayoutMap, CarriesTheMeshsError) {
  LayoutMap map(DeviceMesh({3}, {"x"}, abstract_devices(2)));
  map.set("a", by("nope"));
  EXPECT_THAT(map.status(), FailsWith(Code::kInvalidArgument, "Shape does not match the number of devices"));
  EXPECT_THAT(map.find("a"), FailsWith(Code::kInvalidArgument, "Shape does not match the number of devices"));
}

TEST(LayoutMap, SearchDialect) {
  LayoutMap map(two_by_four(), {.dialect = MatchDialect::kSearch});
  map.set("dense.*kernel", by("model"));
  EXPECT_THAT(map.find("sequential/dense/kernel"), IsOkAnd(Optional(by("model"))));
}

TEST(LayoutMap, CopiesAreIndependent) {
  LayoutMap first(two_by_four());
  first.set("a", by("data"));
  LayoutMap second = first;
  second.set("b", by("model")).set("b", by("model"));
  EXPECT_THAT(first.find("b"), IsOkAnd(Eq(std::nullopt)));
  EXPECT_THAT(first.status(), IsOk());
  EXPECT_FALSE(second.status().ok());
  first.set("c", by("data"));
  EXPECT_EQ(second.rules().size(), 2u);
}

TEST(LayoutMap, LongPathsAndManyRulesAreRefused) {
  LayoutMap map(two_by_four());
  map.set(".*", by("data"));
  EXPECT_THAT(map.find(std::string(4096, 'x')), IsOk());
  EXPECT_THAT(map.find(std::string(4097, 'x')), FailsWith(Code::kResourceExhausted, "has 4097 bytes"));
  for (int i = 1; i < 4096; ++i) map.set(std::to_string(i), by("data"));
  EXPECT_THAT(map.status(), IsOk());
  map.set("more", by("data"));
  EXPECT_THAT(map.status(), FailsWith(Code::kInvalidArgument, "at most 4096 rules"));
}

TEST(LayoutMap, GivesUpOnEndlessPatterns) {
  LayoutMap map(two_by_four());
  map.set("(a+a+)+(b|c)", by("data"));
  EXPECT_THAT(map.find(std::string(4000, 'a')), FailsWith(Code::kResourceExhausted, "was given up"));
}

TEST(LayoutMap, ControlCharactersOfPathsAreNotPrinted) {
  LayoutMap map(two_by_four());
  map.set(".*x", by("data")).set("(?s).*x", by("data"));
  EXPECT_THAT(map.find("\x1b[2Jx"), FailsWith(Code::kInvalidArgument, "Path '\\x1b[2Jx' matches"));
}

TEST(LayoutMap, IsSharedBetweenThreads) {
  LayoutMap map(two_by_four());
  map.set(R"(layer_\d+/kernel)", by("model")).set(R"(.*/bias)", by("data"));
  std::vector<std::thread> threads;
  std::vector<int> found(4, 0);
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([copy = map, &count = found[t]] {
      for (int i = 0; i < 500; ++i) count += copy.find("layer_" + std::to_string(i) + "/kernel")->has_value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(found, ElementsAre(500, 500, 500, 500));
}

}  // namespace
}  // namespace shardwise
