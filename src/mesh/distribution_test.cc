#include <gtest/gtest.h>

#include "shardwise/layout.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::Eq;
using ::testing::Optional;

DeviceMesh two_by_four() { return DeviceMesh({2, 4}, {"data", "model"}, abstract_devices(8)); }

TensorLayout chosen(const Distribution& distribution, const Shape& shape, DType dtype = DType::kFloat32) {
  const auto choice = distribution.variable_layout("x", shape, dtype);
  EXPECT_THAT(choice, IsOk());
  return choice.ok() ? choice->layout : TensorLayout{"failed"};
}

TEST(DataParallel, ReplicatesVariablesAndSplitsData) {
  const DataParallel distribution(two_by_four());
  EXPECT_EQ(distribution.kind(), Distribution::Kind::kDataParallel);
  EXPECT_EQ(chosen(distribution, {3, 4}), (TensorLayout{std::nullopt, std::nullopt}));
  EXPECT_EQ(distribution.data_layout(3), (TensorLayout{"data", std::nullopt, std::nullopt}));
  EXPECT_EQ(distribution.data_layout(0), TensorLayout());
  EXPECT_EQ(distribution.rules(), nullptr);
}

TEST(ModelParallel, RuleElseReplicated) {
  LayoutMap map(two_by_four(), {.uneven = Uneven::kReplicate});
  map.set("dense/kernel", {std::nullopt, "model"});
  const ModelParallel distribution(map, "model");
  const auto kernel = distribution.variable_layout("dense/kernel", {4, 8}, DType::kFloat32);
  ASSERT_THAT(kernel, IsOk());
  EXPECT_EQ(kernel->layout, (TensorLayout{std::nullopt, "model"}));
  EXPECT_THAT(kernel->rule, Optional(std::size_t{0}));
  const auto bias = distribution.variable_layout("dense/bias", {8}, DType::kFloat32);
  EXPECT_EQ(bias->layout, (TensorLayout{std::nullopt}));
  EXPECT_THAT(bias->rule, Eq(std::nullopt));
  EXPECT_EQ(distribution.data_layout(2), (TensorLayout{"model", std::nullopt}));
  EXPECT_EQ(ModelParallel(map).data_layout(1), (TensorLayout{"data"}));
  EXPECT_EQ(distribution.uneven(), Uneven::kReplicate);
  EXPECT_EQ(DataParallel(two_by_four()).uneven(), Uneven::kRefuse);
}

TEST(Distribution, CarriesErrors) {
  LayoutMap map(two_by_four());
  map.set("a", {"nope"});
  EXPECT_THAT(ModelParallel(map).status(), FailsWith(Code::kInvalidArgument, "Invalid axis names"));
  EXPECT_THAT(ModelParallel(map).variable_layout("b", {}, DType::kBool), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT(ModelParallel(LayoutMap(two_by_four()), "nope").status(),
              FailsWith(Code::kInvalidArgument, "batch_dim_name 'nope' is not an axis of <DeviceMesh shape=(2, 4)"));
  const DeviceMesh bad({}, {}, {});
  EXPECT_THAT(DataParallel(bad).status(), FailsWith(Code::kInvalidArgument, "cannot be empty"));
  EXPECT_THAT(AutoParallel(bad).status(), FailsWith(Code::kInvalidArgument, "cannot be empty"));
  EXPECT_THAT(ModelParallel(LayoutMap(bad)).status(), FailsWith(Code::kInvalidArgument, "cannot be empty"));
}

TEST(AutoParallel, SplitsTheLargestDimensionOverAllDevices) {
  const AutoParallel distribution(two_by_four());
  EXPECT_EQ(chosen(distribution, {512, 1024}), (TensorLayout{std::nullopt, "data+model"}));
  EXPECT_EQ(chosen(distribution, {1024, 1024}), (TensorLayout{"data+model", std::nullopt}));
  // 30522 = 2 * 3 * 5087 is larger, but 384 takes all eight.
  EXPECT_EQ(chosen(distribution, {30522, 384}), (TensorLayout{std::nullopt, "data+model"}));
}

TEST(AutoParallel, ElseTheLargestProductOfAxesThatDivides) {
  const AutoParallel distribution(two_by_four());
  EXPECT_EQ(chosen(distribution, {30522, 36}), (TensorLayout{std::nullopt, "model"}));
  EXPECT_EQ(chosen(distribution, {30522, 333}), (TensorLayout{"data", std::nullopt}));
  EXPECT_EQ(chosen(distribution, {30521, 333}), (TensorLayout{std::nullopt, std::nullopt}));
  const AutoParallel three(DeviceMesh({2, 3, 2}, {"a", "b", "c"}, abstract_devices(12)));
  EXPECT_EQ(chosen(three, {1 << 20}), (TensorLayout{"a+c"}));
  EXPECT_EQ(chosen(three, {6 * 1'000'001}), (TensorLayout{"a+b"}));
  EXPECT_EQ(chosen(three, {12 * 1'000'001}), (TensorLayout{"a+b+c"}));
}

TEST(AutoParallel, SmallTensorsAreReplicated) {
  const AutoParallel distribution(two_by_four());
  EXPECT_EQ(chosen(distribution, {1 << 18}), TensorLayout{"data+model"});  // 1 MiB
  EXPECT_EQ(chosen(distribution, {(1 << 18) - 8}), TensorLayout{std::nullopt});
  EXPECT_EQ(chosen(distribution, {1 << 18}, DType::kBfloat16), TensorLayout{std::nullopt});
  EXPECT_EQ(chosen(distribution, {}), TensorLayout());
  EXPECT_EQ(chosen(AutoParallel(two_by_four(), 1), {8}), TensorLayout{"data+model"});
  EXPECT_EQ(chosen(AutoParallel(two_by_four(), 0), {8, 0}), (TensorLayout{std::nullopt, std::nullopt}));
  EXPECT_EQ(chosen(AutoParallel(two_by_four(), 0), {}), TensorLayout());
}

TEST(AutoParallel, AxesOfOneDeviceAreNotNamed) {
  const AutoParallel distribution(DeviceMesh({1, 8}, {"batch", "model"}, abstract_devices(8)), 1);
  EXPECT_EQ(chosen(distribution, {64}), TensorLayout{"model"});
  EXPECT_EQ(chosen(AutoParallel(DeviceMesh({1}, {"x"}, abstract_devices(1)), 1), {64}), TensorLayout{std::nullopt});
}

TEST(AutoParallel, ShardsOfSubByteTypesFillBytes) {
  const AutoParallel distribution(two_by_four(), 1);
  // An eighth of 8 elements is half a byte; a quarter fills one.
  EXPECT_EQ(chosen(distribution, {8}, DType::kInt4), TensorLayout{"model"});
  EXPECT_EQ(chosen(distribution, {16}, DType::kInt4), TensorLayout{"data+model"});
  EXPECT_EQ(chosen(distribution, {8, 2}, DType::kInt4), (TensorLayout{"data+model", std::nullopt}));
}

TEST(AutoParallel, RefusesShapesThatAreNone) {
  const AutoParallel distribution(two_by_four());
  EXPECT_THAT(distribution.variable_layout("x", {-1}, DType::kBool), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT(distribution.variable_layout("x", {std::int64_t{1} << 62, 8}, DType::kBool),
              FailsWith(Code::kInvalidArgument));
}

TEST(AutoParallel, ManyAxesAreNoTrouble) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h",
                                          "i", "j", "k", "l", "m", "n", "o", "p"};
  const AutoParallel distribution(DeviceMesh(std::vector<std::int64_t>(16, 2), names, abstract_devices(65536)), 1);
  EXPECT_EQ(chosen(distribution, {1 << 16}), TensorLayout{"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p"});
  EXPECT_EQ(chosen(distribution, {1 << 3}), TensorLayout{"a+b+c"});
}

}  // namespace
}  // namespace shardwise
