#include "checkpoint/hdf5/chunk_index.h"

#include <gtest/gtest.h>

#include <numeric>

namespace shardwise::hdf5 {
namespace {

// Counts, per element of `shape`, how many of the boxes hold it.
std::vector<int> coverage(const Shape& shape, const std::vector<Box>& boxes) {
  std::vector<int> counts(
      static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
  for (const Box& box : boxes) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      bool is_inside = true;
      for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t index = rest % shape[d];
        rest /= shape[d];
        is_inside = is_inside && box.origin[d] <= index && index < box.origin[d] + box.extent[d];
      }
      counts[i] += is_inside ? 1 : 0;
    }
  }
  return counts;
}

struct GridCase {
  Shape shape;
  std::vector<std::uint32_t> chunk;
};

class ChunkGridTest : public ::testing::TestWithParam<GridCase> {};

TEST_P(ChunkGridTest, CellsCoverTheShapeOnce) {
  const auto& [shape, chunk] = GetParam();
  const ChunkGrid grid(shape, chunk);
  std::vector<Box> boxes;
  for (std::uint64_t cell = 0; cell < grid.cells(); ++cell) {
    boxes.push_back(grid.box(cell));
    EXPECT_EQ(grid.cell_at({boxes.back().origin.begin(), boxes.back().origin.end()}), cell);
  }
  EXPECT_EQ(coverage(shape, boxes), std::vector<int>(coverage(shape, {}).size(), 1));
}

TEST_P(ChunkGridTest, BoxesOfEveryGapCoverItsCellsAndNoOthers) {
  const auto& [shape, chunk] = GetParam();
  const ChunkGrid grid(shape, chunk);
  for (std::uint64_t begin = 0; begin <= grid.cells(); ++begin) {
    for (std::uint64_t end = begin; end <= grid.cells(); ++end) {
      std::vector<Box> expected;
      for (std::uint64_t cell = begin; cell < end; ++cell) expected.push_back(grid.box(cell));
      std::vector<Box> boxes;
      grid.append_boxes(begin, end, boxes);
      EXPECT_EQ(coverage(shape, boxes), coverage(shape, expected)) << begin << " to " << end;
      EXPECT_LE(boxes.size(), 2 * shape.size() - 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkGridTest,
                         ::testing::Values(GridCase{{7}, {3}}, GridCase{{8}, {8}}, GridCase{{5}, {9}},
                                           GridCase{{4, 6}, {2, 3}}, GridCase{{5, 7}, {2, 3}}, GridCase{{1, 5}, {1, 2}},
                                           GridCase{{5, 1}, {2, 1}}, GridCase{{3, 4, 5}, {2, 2, 2}},
                                           GridCase{{2, 1, 3, 2}, {1, 1, 2, 1}}));

TEST(ChunkGrid, HugeGridsCostNothing) {
  const ChunkGrid grid({std::int64_t{1} << 30, std::int64_t{1} << 30}, {1, 1});
  std::vector<Box> boxes;
  grid.append_boxes(1, grid.cells() - 1, boxes);
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_EQ(boxes[1].origin, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(boxes[1].extent, (std::vector<std::int64_t>{(1 << 30) - 2, 1 << 30}));
}

TEST(ChunkGrid, KnowsNoCellOffTheGrid) {
  const ChunkGrid grid({5, 7}, {2, 3});
  EXPECT_EQ(grid.cell_at({4, 6}), 8u);
  EXPECT_EQ(grid.cell_at({1, 0}), kUndefined);
  EXPECT_EQ(grid.cell_at({6, 0}), kUndefined);
  EXPECT_EQ(grid.cell_at({0, 9}), kUndefined);
}

}  // namespace
}  // namespace shardwise::hdf5
