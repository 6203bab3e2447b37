#include "checkpoint/catalog/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

TensorInfo tensor(std::string name, std::vector<Extent> extents = {}) {
  return {.name = std::move(name), .extents = std::move(extents)};
}

TEST(CheckNames, WantsThemUniqueAndWithoutNul) {
  EXPECT_THAT(check_names({tensor("a"), tensor(""), tensor("A")}), IsOk());
  EXPECT_THAT(check_names({tensor("a"), tensor("b"), tensor("a")}),
              FailsWith(Code::kDataLoss, "tensor 'a' is there twice"));
  EXPECT_THAT(check_names({tensor(std::string("a\0", 2)), tensor("a")}), FailsWith(Code::kDataLoss, "NUL"));
}

TEST(SortByFirstByte, OrdersByFileThenOffsetThenAsBefore) {
  std::vector<TensorInfo> tensors = {
      tensor("empty"),
      tensor("second file", {{.file = 1, .range = {0, 4}}}),
      tensor("late, then early chunk", {{.range = {90, 99}}, {.range = {10, 20}}}),
      tensor("unwritten", {{.file = Extent::kNoFile}}),
      tensor("middle", {{.range = {20, 90}}}),
      tensor("shared with middle", {{.range = {20, 90}}}),
  };
  sort_by_first_byte(tensors);
  std::vector<std::string> names;
  for (const TensorInfo& t : tensors) names.push_back(t.name);
  EXPECT_THAT(names, ElementsAre("late, then early chunk", "middle", "shared with middle", "second file", "unwritten",
                                 "empty"));
}

TEST(InFile, PutsThePathThereOnce) {
  EXPECT_EQ(in_file(data_loss("bad"), "a/m"), data_loss("a/m: bad"));
  EXPECT_EQ(in_file(unavailable("a/m: cannot read"), "a/m"), unavailable("a/m: cannot read"));
  EXPECT_EQ(in_file(data_loss("a/m2: bad"), "a/m"), data_loss("a/m: a/m2: bad"));
  EXPECT_THAT(in_file(Status(), "a/m"), IsOk());
}

}  // namespace
}  // namespace shardwise
