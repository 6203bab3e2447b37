// The matchers of testing/matchers.h: they hold, fail, and say why.
#include "testing/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace shardwise {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Status& ends() {
  static const Status status = data_loss("file ends at 64");
  return status;
}

TEST(Matchers, IsOk) {
  EXPECT_THAT(Status(), IsOk());
  EXPECT_THAT(Result<int>(3), IsOk());
  EXPECT_THAT(ends(), Not(IsOk()));
  EXPECT_THAT(Result<int>(ends()), Not(IsOk()));
}

TEST(Matchers, IsOkAnd) {
  EXPECT_THAT(Result<int>(3), IsOkAnd(3));
  EXPECT_THAT(Result<int>(3), IsOkAnd(Gt(2)));
  EXPECT_THAT(Result<int>(3), Not(IsOkAnd(4)));
  EXPECT_THAT(Result<int>(ends()), Not(IsOkAnd(_)));
  EXPECT_THAT(Result<std::unique_ptr<int>>(std::make_unique<int>(7)), IsOkAnd(::testing::Pointee(7)));
}

TEST(Matchers, FailsWith) {
  EXPECT_THAT(ends(), FailsWith(Code::kDataLoss));
  EXPECT_THAT(ends(), FailsWith(Code::kDataLoss, "ends at 64"));
  EXPECT_THAT(ends(), FailsWith(Code::kDataLoss, std::string("ends at 64")));
  EXPECT_THAT(ends(), FailsWith(Code::kDataLoss, AllOf(StartsWith("file"), HasSubstr("64"))));
  EXPECT_THAT(Result<std::unique_ptr<int>>(ends()), FailsWith(Code::kDataLoss, "64"));
  EXPECT_THAT(ends(), Not(FailsWith(Code::kInternal)));
  EXPECT_THAT(ends(), Not(FailsWith(Code::kDataLoss, "ends at 65")));
  EXPECT_THAT(ends(), Not(FailsWith(Code::kInternal, "ends at 64")));
  EXPECT_THAT(Status(), Not(FailsWith(Code::kOk)));
  EXPECT_THAT(Result<int>(3), Not(FailsWith(Code::kDataLoss)));
}

TEST(Matchers, SayWhatTheyWantedAndGot) {
  EXPECT_EQ(::testing::DescribeMatcher<Status>(FailsWith(Code::kDataLoss, "64")),
            "fails with DATA_LOSS and a message that has substring \"64\"");
  EXPECT_EQ(::testing::DescribeMatcher<Result<int>>(IsOkAnd(Gt(2))), "is OK and its value is > 2");
  EXPECT_EQ(::testing::PrintToString(ends()), "DATA_LOSS: file ends at 64");
  EXPECT_EQ(::testing::PrintToString(Result<int>(ends())), "DATA_LOSS: file ends at 64");
}

}  // namespace
}  // namespace shardwise
