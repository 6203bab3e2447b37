#include "shardwise/mesh.h"

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

TEST(DeviceMesh, IsARowMajorGrid) {
  const DeviceMesh mesh({2, 3}, {"data", "model"}, abstract_devices(6, 100));
  ASSERT_THAT(mesh.status(), IsOk());
  EXPECT_EQ(mesh.size(), 6u);
  EXPECT_EQ(mesh.axis_size("model"), 3);
  EXPECT_EQ(mesh.axis_index("model"), 1);
  EXPECT_EQ(mesh.axis_index("nope"), -1);
  EXPECT_THAT(mesh.coordinates(0), ElementsAre(0, 0));
  EXPECT_THAT(mesh.coordinates(2), ElementsAre(0, 2));
  EXPECT_THAT(mesh.coordinates(3), ElementsAre(1, 0));
  EXPECT_THAT(mesh.coordinates(5), ElementsAre(1, 2));
  EXPECT_EQ(mesh.devices()[5].info.id, "host:5");
  EXPECT_EQ(mesh.devices()[5].info.memory_limit, 100u);
  EXPECT_EQ(mesh.devices()[5].device, nullptr);
}

TEST(DeviceMesh, PrintsAsKerasDoes) {
  EXPECT_EQ(DeviceMesh({2, 4}, {"data", "model"}, abstract_devices(8)).to_string(),
            "<DeviceMesh shape=(2, 4), axis_names=['data', 'model']>");
  EXPECT_EQ(DeviceMesh({1}, {"it's"}, abstract_devices(1)).to_string(),
            "<DeviceMesh shape=(1,), axis_names=[\"it's\"]>");
}

struct Refusal {
  std::vector<std::int64_t> shape;
  std::vector<std::string> axis_names;
  std::size_t devices;
  std::string message;
};

class DeviceMeshRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(DeviceMeshRefuses, WithThisText) {
  const Refusal& refusal = GetParam();
  const DeviceMesh mesh(refusal.shape, refusal.axis_names, abstract_devices(refusal.devices));
  EXPECT_THAT(mesh.status(), FailsWith(Code::kInvalidArgument, StrEq(refusal.message)));
  EXPECT_THAT(DeviceMesh::create(refusal.shape, refusal.axis_names, abstract_devices(refusal.devices)),
              FailsWith(Code::kInvalidArgument, StrEq(refusal.message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceMeshRefuses,
    ::testing::Values(
        Refusal{{}, {}, 8, "Shape and axis_names cannot be empty. Received: shape=(), axis_names=[]"},
        Refusal{{8}, {}, 8, "Shape and axis_names cannot be empty. Received: shape=(8,), axis_names=[]"},
        Refusal{{8},
                {"a", "b"},
                8,
                "Shape and axis_names should have same size. Received: shape=(8,), axis_names=['a', 'b']"},
        Refusal{{2, 4},
                {"a", "b"},
                6,
                "Shape does not match the number of devices. Received: shape=(2, 4); devices.shape=(6,)"},
        Refusal{{std::int64_t{1} << 40, std::int64_t{1} << 40},
                {"a", "b"},
                0,
                "Shape does not match the number of devices. Received: shape=(1099511627776, 1099511627776); "
                "devices.shape=(0,)"},
        Refusal{{-2, -4},
                {"a", "b"},
                8,
                "Mesh axis 'a' has size -2; sizes must be 1 or more. Received: shape=(-2, -4), axis_names=['a', 'b']"},
        Refusal{
            {0}, {"a"}, 0, "Mesh axis 'a' has size 0; sizes must be 1 or more. Received: shape=(0,), axis_names=['a']"},
        Refusal{{2, 2},
                {"a", "a"},
                4,
                "Mesh axis name 'a' is used twice; axis names must differ. Received: shape=(2, 2), axis_names=['a', "
                "'a']"}));

TEST(DeviceMesh, HoldsAtMostKMaxDevices) {
  EXPECT_EQ(abstract_devices(SIZE_MAX).size(), kMaxDevices);
  DeviceList devices(kMaxDevices + 1);
  EXPECT_THAT(DeviceMesh({static_cast<std::int64_t>(devices.size())}, {"x"}, devices).status(),
              FailsWith(Code::kInvalidArgument, "A mesh of 65537 devices is over the limit of 65536"));
}

}  // namespace
}  // namespace shardwise
