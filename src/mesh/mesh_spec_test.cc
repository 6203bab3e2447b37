#include <gtest/gtest.h>

#include "shardwise/mesh.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;

TEST(ParseMesh, ReadsAxes) {
  const auto spec = parse_mesh(" batch = 2 ,model=4");
  ASSERT_THAT(spec, IsOk());
  EXPECT_THAT(spec->axis_names, ElementsAre("batch", "model"));
  EXPECT_THAT(spec->shape, ElementsAre(2, 4));
  EXPECT_EQ(spec->size(), 8);
  EXPECT_THAT(parse_mesh("x=65536"), IsOk());
  EXPECT_THAT(parse_mesh("a-b.c_1=1"), IsOk());
}

struct Case {
  std::string text;
  std::string part;
};
class ParseMeshRefuses : public ::testing::TestWithParam<Case> {};

TEST_P(ParseMeshRefuses, WithAnExample) {
  const auto spec = parse_mesh(GetParam().text);
  EXPECT_THAT(spec, FailsWith(Code::kInvalidArgument, GetParam().part));
  EXPECT_THAT(spec, FailsWith(Code::kInvalidArgument, "for example batch=2,model=4"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseMeshRefuses,
    ::testing::Values(Case{"", "'' has no '='"}, Case{"8", "'8' has no '='"}, Case{"x=1,", "'' has no '='"},
                      Case{"=2", "'' is not an axis name"}, Case{"a b=2", "'a b' is not an axis name"},
                      Case{"a+b=2", "'a+b' is not an axis name"},
                      Case{"x=0", "the size of axis 'x' is '0', not a whole number of 1 or more"},
                      Case{"x=-1", "not a whole number"}, Case{"x=2.0", "not a whole number"},
                      Case{"x=99999999999999999999", "not a whole number"}, Case{"x=", "not a whole number"},
                      Case{"x=2=3", "not a whole number"}, Case{"x=2,x=3", "axis 'x' is named twice"},
                      Case{"x=65537", "more than 65536 devices"}, Case{"x=256,y=256,z=2", "more than 65536 devices"}));

TEST(ParseMesh, LimitsTheNumberOfAxes) {
  std::string text = "a0=1";
  for (int i = 1; i < 64; ++i) text += ",a" + std::to_string(i) + "=1";
  EXPECT_THAT(parse_mesh(text), IsOk());
  EXPECT_THAT(parse_mesh(text + ",more=1"), FailsWith(Code::kInvalidArgument, "more than 64 axes"));
}

}  // namespace
}  // namespace shardwise
