#include "shardwise/placement.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StrEq;

constexpr std::nullopt_t kNone = std::nullopt;

struct Scenario {
  std::string mesh;
  Shape shape;
  TensorLayout layout;
  std::vector<std::string> shards;  // one per device
};

DeviceMesh mesh_of(const std::string& text) {
  const auto spec = parse_mesh(text);
  return DeviceMesh(spec->shape, spec->axis_names, abstract_devices(static_cast<std::size_t>(spec->size())));
}

void PrintTo(const Scenario& s, std::ostream* out) { *out << s.mesh << to_string(s.shape) << to_string(s.layout); }

class Places : public ::testing::TestWithParam<Scenario> {};

TEST_P(Places, TheseBoxes) {
  const Scenario& scenario = GetParam();
  const auto placement = place("x", scenario.shape, scenario.layout, mesh_of(scenario.mesh));
  ASSERT_THAT(placement, IsOk());
  std::vector<std::string> shards;
  for (std::uint32_t box : placement->device_box) shards.push_back(to_string(placement->boxes[box]));
  EXPECT_EQ(shards, scenario.shards);
  EXPECT_EQ(placement->boxes.size(), std::set<std::string>(shards.begin(), shards.end()).size());
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, Places,
    ::testing::Values(
        Scenario{"x=1", {3, 5}, {"x", kNone}, {"[0:3, 0:5]"}},  //
        Scenario{"x=2", {}, {}, {"[]", "[]"}},                  //
        Scenario{"x=2", {4}, {"x"}, {"[0:2]", "[2:4]"}},
        Scenario{"x=2", {4, 6}, {kNone, "x"}, {"[0:4, 0:3]", "[0:4, 3:6]"}},
        Scenario{"x=2", {4, 6}, {"x"}, {"[0:2, 0:6]", "[2:4, 0:6]"}},  // a layout may be shorter than the rank
        Scenario{"x=3", {6}, {"x"}, {"[0:2]", "[2:4]", "[4:6]"}},
        Scenario{"x=2,y=3", {3}, {"y"}, {"[0:1]", "[1:2]", "[2:3]", "[0:1]", "[1:2]", "[2:3]"}},
        Scenario{"x=2,y=3", {2}, {"x"}, {"[0:1]", "[0:1]", "[0:1]", "[1:2]", "[1:2]", "[1:2]"}},
        Scenario{"x=2,y=3",
                 {2, 3},
                 {"x", "y"},
                 {"[0:1, 0:1]", "[0:1, 1:2]", "[0:1, 2:3]", "[1:2, 0:1]", "[1:2, 1:2]", "[1:2, 2:3]"}},
        Scenario{"x=2,y=3",
                 {3, 2},
                 {"y", "x"},
                 {"[0:1, 0:1]", "[1:2, 0:1]", "[2:3, 0:1]", "[0:1, 1:2]", "[1:2, 1:2]", "[2:3, 1:2]"}},
        Scenario{"x=2,y=4", {8}, {"x+y"}, {"[0:1]", "[1:2]", "[2:3]", "[3:4]", "[4:5]", "[5:6]", "[6:7]", "[7:8]"}},
        Scenario{"x=2,y=4", {8}, {"y+x"}, {"[0:1]", "[2:3]", "[4:5]", "[6:7]", "[1:2]", "[3:4]", "[5:6]", "[7:8]"}},
        Scenario{"x=2,y=2,z=2",
                 {2, 2},
                 {"z", "x"},
                 {"[0:1, 0:1]", "[1:2, 0:1]", "[0:1, 0:1]", "[1:2, 0:1]", "[0:1, 1:2]", "[1:2, 1:2]", "[0:1, 1:2]",
                  "[1:2, 1:2]"}},
        Scenario{"x=2,y=1", {4}, {"y"}, {"[0:4]", "[0:4]"}},
        Scenario{"x=2", {0, 4}, {"x", kNone}, {"[0:0, 0:4]", "[0:0, 0:4]"}},  // no elements: equal boxes are replicas
        Scenario{"x=2", {0, 4}, {kNone, "x"}, {"[0:0, 0:2]", "[0:0, 2:4]"}}));

TEST(Place, RecordsWhatItApplied) {
  const auto placement = place("x", {30522, 384}, {kNone, "model"}, mesh_of("batch=2,model=4"));
  ASSERT_THAT(placement, IsOk());
  EXPECT_EQ(placement->shape, (Shape{30522, 384}));
  EXPECT_EQ(placement->shard_shape, (Shape{30522, 96}));
  EXPECT_EQ(placement->layout, (TensorLayout{kNone, "model"}));
  EXPECT_EQ(placement->replicas(), 2u);
  EXPECT_THAT(placement->device_box, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_EQ(to_string(*placement),
            "(30522, 384) (None, 'model') -> 4 boxes of (30522, 96) x 2 replicas\n"
            "  [0:30522, 0:96] on devices 0, 4\n"
            "  [0:30522, 96:192] on devices 1, 5\n"
            "  [0:30522, 192:288] on devices 2, 6\n"
            "  [0:30522, 288:384] on devices 3, 7");
  EXPECT_EQ(to_string(*place("x", {2}, {}, mesh_of("x=1"))),
            "(2,) (None,) -> 1 box of (2,) x 1 replica\n  [0:2] on device 0");
  EXPECT_EQ(place("x", {2, 2}, {"x"}, mesh_of("x=1"))->layout, (TensorLayout{"x", kNone}));
}

TEST(Place, LongPlacementsPrintShort) {
  const auto placement = place("x", {1000}, {"x"}, mesh_of("x=1000"));
  EXPECT_THAT(to_string(*placement), HasSubstr("\n  ... and 936 more"));
}

TEST(Place, SaysWhatWouldDivide) {
  EXPECT_THAT(
      place("embeddings", {30522, 384}, {"model", "batch"}, mesh_of("batch=2,model=4")),
      FailsWith(
          Code::kInvalidArgument,
          StrEq("Variable 'embeddings' of shape (30522, 384) cannot have layout ('model', 'batch') on <DeviceMesh "
                "shape=(2, 4), axis_names=['batch', 'model']>: array axis 0 is partitioned 4 times by mesh axis "
                "'model', but the dimension size is 30522 (full shape: (30522, 384)); 30522 is divisible by 1, 2, "
                "3, 6, and 30520 or 30524 would be divisible by 4; or let it stay whole with uneven=replicate")));
  EXPECT_THAT(place("kv", {1, 8}, {"model"}, mesh_of("model=2")),
              FailsWith(Code::kInvalidArgument, "1 is divisible by 1, and 2 would be divisible by 2"));
  EXPECT_THAT(
      place("x", {12}, {"a+b"}, mesh_of("a=2,b=4")),
      FailsWith(Code::kInvalidArgument, "partitioned 8 times by mesh axis 'a+b', but the dimension size is 12"));
  EXPECT_THAT(place("x", {std::numeric_limits<std::int64_t>::max()}, {"a"}, mesh_of("a=2")),
              FailsWith(Code::kInvalidArgument, "9223372036854775806 would be divisible by 2"));
}

TEST(Place, ReportsAllProblemsOfAVariable) {
  const auto placement = place("x", {7, 8}, {"model", "nope", "model", "batch"}, mesh_of("batch=2,model=4"));
  EXPECT_THAT(placement, FailsWith(Code::kInvalidArgument, "Variable 'x' of shape (7, 8)"));
  for (const char* part :
       {"the layout is only valid for values of rank at least 4, but was applied to a value of rank 2; ",
        "array axis 0 is partitioned 4 times by mesh axis 'model', but the dimension size is 7",
        "mesh axis 'nope' of dimension 1 is not found in the mesh, whose axes are ['batch', 'model']",
        "mesh axis 'model' is used for dimension 0 and again for dimension 2; an axis can split one dimension"}) {
    EXPECT_THAT(placement, FailsWith(Code::kInvalidArgument, part));
  }
  EXPECT_THAT(place("x", {8}, {"a+a"}, mesh_of("a=2")), FailsWith(Code::kInvalidArgument, "again for dimension 0"));
  EXPECT_THAT(place("x", {8}, {"a+"}, mesh_of("a=2")), FailsWith(Code::kInvalidArgument, "'a+' of dimension 0"));
}

TEST(Place, UnevenDimensionsStayWhole) {
  const auto placement = place("v", {1, 2048, 256}, {"model", "batch"}, mesh_of("batch=2,model=4"), Uneven::kReplicate);
  ASSERT_THAT(placement, IsOk());
  EXPECT_EQ(placement->layout, (TensorLayout{kNone, "batch", kNone}));
  EXPECT_EQ(placement->shard_shape, (Shape{1, 1024, 256}));
  EXPECT_THAT(placement->notes, ElementsAre("'v': dimension 0 stays whole: its size 1 is not divisible by 4 (mesh axis "
                                            "'model')"));
  EXPECT_THAT(place("v", {7}, {"nope"}, mesh_of("x=2"), Uneven::kReplicate), FailsWith(Code::kInvalidArgument));
}

TEST(Place, RefusesBadShapesAndMeshes) {
  EXPECT_THAT(place("x", {-1}, {}, mesh_of("x=2")), FailsWith(Code::kInvalidArgument, "Variable 'x'"));
  EXPECT_THAT(place("x", Shape(65, 1), {}, mesh_of("x=2")), FailsWith(Code::kInvalidArgument, "rank 65"));
  EXPECT_THAT(place("x", {std::int64_t{1} << 62, 4}, {}, mesh_of("x=2")), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT(place("x", {2}, {}, DeviceMesh({}, {}, {})), FailsWith(Code::kInvalidArgument, "cannot be empty"));
}

TEST(Place, AnAxisMayHaveAPlusInItsName) {
  const DeviceMesh mesh({2, 2, 2}, {"a", "b", "a+b"}, abstract_devices(8));
  const auto placement = place("x", {4}, {"a+b"}, mesh);
  ASSERT_THAT(placement, IsOk());
  EXPECT_EQ(placement->boxes.size(), 2u);
}

// Every element of the tensor lies in exactly one distinct box, and each box is held by as many devices as any other.
void expect_tiling(const Placement& placement) {
  std::vector<std::size_t> holders(placement.boxes.size(), 0);
  for (std::uint32_t box : placement.device_box) ++holders[box];
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < placement.boxes.size(); ++i) {
    EXPECT_EQ(holders[i], placement.replicas());
    EXPECT_EQ(placement.boxes[i].extent, placement.shard_shape);
    EXPECT_TRUE(fits(placement.boxes[i], placement.shape));
    covered += placement.boxes[i].elements();
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_EQ(intersect(placement.boxes[i], placement.boxes[j]).elements(), 0u);
      EXPECT_NE(placement.boxes[i], placement.boxes[j]);
    }
  }
  EXPECT_EQ(covered, *element_count(placement.shape));
}

TEST(Place, BoxesTileTheShape) {
  std::mt19937 random(7);
  const std::vector<std::string> meshes = {"x=1",     "x=2",     "x=3",         "x=6",         "x=8",
                                           "x=2,y=3", "x=2,y=4", "x=1,y=2,z=4", "x=2,y=2,z=2", "x=3,y=2,z=1"};
  int placed = 0;
  for (int round = 0; round < 2000; ++round) {
    const DeviceMesh mesh = mesh_of(meshes[random() % meshes.size()]);
    Shape shape(random() % 5);
    for (auto& extent : shape) extent = std::vector<std::int64_t>{0, 1, 2, 3, 6, 8, 24}[random() % 7];
    std::vector<std::string> free = mesh.axis_names();
    std::shuffle(free.begin(), free.end(), random);
    TensorLayout layout;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      layout.axes.push_back(kNone);
      if (free.empty() || random() % 3 == 0) continue;
      layout.axes.back() = free.back();
      free.pop_back();
    }
    const Uneven uneven = random() % 2 == 0 ? Uneven::kRefuse : Uneven::kReplicate;
    const auto placement = place("x", shape, layout, mesh, uneven);
    if (!placement.ok()) {
      EXPECT_EQ(uneven, Uneven::kRefuse) << placement.status().message();
      continue;
    }
    ++placed;
    expect_tiling(*placement);
  }
  EXPECT_GT(placed, 1000);
}

TEST(PlaceBoxes, KeepsOrderAndLeavesDevicesOut) {
  const Box left{{0, 0}, {4, 2}};
  const Box right{{0, 2}, {4, 2}};
  const auto placement = place_boxes("x", {4, 4}, {right, std::nullopt, left, right}, {kNone, "a"});
  ASSERT_THAT(placement, IsOk());
  EXPECT_THAT(placement->boxes, ElementsAre(right, left));
  EXPECT_THAT(placement->device_box, ElementsAre(0u, Placement::kNoBox, 1u, 0u));
  EXPECT_EQ(placement->shard_shape, (Shape{4, 2}));
  EXPECT_EQ(placement->replicas(), 2u);
  EXPECT_EQ(placement->layout, (TensorLayout{kNone, "a"}));
}

TEST(PlaceBoxes, GivesWhatPlaceGives) {
  const DeviceMesh mesh = mesh_of("x=2,y=4");
  const auto placed = place("v", {8, 4}, {"y", "x"}, mesh);
  ASSERT_THAT(placed, IsOk());
  std::vector<std::optional<Box>> boxes;
  for (std::uint32_t box : placed->device_box) boxes.push_back(placed->boxes[box]);
  const auto given = place_boxes("v", {8, 4}, boxes, {"y", "x"});
  ASSERT_THAT(given, IsOk());
  EXPECT_EQ(*given, *placed);
}

TEST(PlaceBoxes, RefusesWhatIsNoPlacement) {
  const Box good{{0}, {4}};
  EXPECT_THAT(place_boxes("v", {8}, {good, Box{{5}, {4}}}), FailsWith(Code::kInvalidArgument, "device 1 cannot hold"));
  EXPECT_THAT(place_boxes("v", {8}, {good, Box{{4}, {3}}}), FailsWith(Code::kInvalidArgument, "would hold"));
  EXPECT_THAT(place_boxes("v", {8}, {Box{{0, 0}, {4, 1}}}), FailsWith(Code::kInvalidArgument, "cannot hold"));
  EXPECT_THAT(place_boxes("v", {8}, {std::nullopt}), FailsWith(Code::kInvalidArgument, "no device"));
  EXPECT_THAT(place_boxes("v", {-1}, {good}), FailsWith(Code::kInvalidArgument, "'v'"));
}

}  // namespace
}  // namespace shardwise
