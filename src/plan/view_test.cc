#include "shardwise/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using testing::ElementsAre;

TEST(View, StartsAsTheTensorItself) {
  const View view = View::of({2, 3});
  EXPECT_TRUE(view.is_identity());
  EXPECT_EQ(view.to_string(), "");
  EXPECT_THAT(view.shape(), ElementsAre(2, 3));
}

TEST(View, ReshapeKeepsTheElementCountAndInfersOneExtent) {
  const View view = View::of({4, 6});
  EXPECT_THAT(view.reshape({2, -1, 3}).value().shape(), ElementsAre(2, 4, 3));
  EXPECT_TRUE(view.reshape({4, 6}).value().is_identity());
  EXPECT_THAT(view.reshape({5, 5}), FailsWith(Code::kInvalidArgument, "(4, 6) (24 elements)"));
  EXPECT_THAT(view.reshape({-1, -1}), FailsWith(Code::kInvalidArgument, "only one extent"));
  EXPECT_THAT(view.reshape({-1, 5}), FailsWith(Code::kInvalidArgument, "cannot reshape 24"));
  EXPECT_THAT(view.reshape({-1, 0}), FailsWith(Code::kInvalidArgument, "cannot reshape 24"));
  EXPECT_THAT(view.reshape({-2, 12}), FailsWith(Code::kInvalidArgument, "negative"));
}

TEST(View, TransposeWantsAPermutation) {
  const View view = View::of({4, 6, 2});
  EXPECT_THAT(view.transpose({2, 0, 1}).value().shape(), ElementsAre(2, 4, 6));
  EXPECT_TRUE(view.transpose({0, 1, 2}).value().is_identity());
  for (const std::vector<int>& bad : {std::vector<int>{0, 1}, {0, 0, 1}, {0, 1, 3}, {-1, 0, 1}}) {
    EXPECT_THAT(view.transpose(bad), FailsWith(Code::kInvalidArgument, "not a permutation"));
  }
}

TEST(View, SliceStaysInside) {
  const View view = View::of({10, 4});
  EXPECT_THAT(view.slice({1, 0}, {10, 4}, {3, 1}).value().shape(), ElementsAre(3, 4));
  EXPECT_THAT(view.slice({2, 1}, {2, 4}).value().shape(), ElementsAre(0, 3));
  EXPECT_TRUE(view.slice({0, 0}, {10, 4}).value().is_identity());
  EXPECT_THAT(view.slice({0, 0}, {11, 4}), FailsWith(Code::kInvalidArgument, "outside dimension 0"));
  EXPECT_THAT(view.slice({0, 3}, {10, 2}), FailsWith(Code::kInvalidArgument, "outside dimension 1"));
  EXPECT_THAT(view.slice({0, 0}, {10, 4}, {0, 1}), FailsWith(Code::kInvalidArgument, "outside dimension 0"));
  EXPECT_THAT(view.slice({0}, {10}), FailsWith(Code::kInvalidArgument, "needs 2"));
}

TEST(View, PrintsItsSteps) {
  const View view = View::of({1024, 640}).reshape({4, 256, 640}).value().transpose({0, 2, 1}).value();
  EXPECT_EQ(view.to_string(), ".reshape(4, 256, 640).transpose(0, 2, 1)");
  EXPECT_EQ(View::of({10, 4}).slice({1, 0}, {10, 4}, {3, 1}).value().to_string(), "[1:8:3, 0:4]");
}

}  // namespace
}  // namespace shardwise
