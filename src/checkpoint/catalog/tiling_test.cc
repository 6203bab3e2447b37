#include "checkpoint/catalog/tiling.h"

#include <gtest/gtest.h>

#include <random>

#include "testing/matchers.h"

namespace shardwise {
namespace {

Status tile(const Shape& shape, const std::vector<Box>& boxes) {
  std::vector<const Box*> pointers;
  for (const Box& box : boxes) pointers.push_back(&box);
  return check_tiling(shape, pointers);
}

// Blocks of `block` over `shape`, cut at its edge.
std::vector<Box> grid(const Shape& shape, const Shape& block) {
  std::vector<Box> boxes = {Box::whole(shape)};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::vector<Box> cut;
    for (const Box& box : boxes) {
      for (std::int64_t at = 0; at < shape[d]; at += block[d]) {
        Box piece = box;
        piece.origin[d] = at;
        piece.extent[d] = std::min(block[d], shape[d] - at);
        cut.push_back(piece);
      }
    }
    boxes = cut;
  }
  return boxes;
}

// Every element is in exactly one box: the definition, element by element, for 2 dimensions.
bool tiles_by_counting(const Shape& shape, const std::vector<Box>& boxes) {
  std::vector<int> count(static_cast<std::size_t>(shape[0] * shape[1]));
  for (const Box& box : boxes) {
    for (std::int64_t i = box.origin[0]; i < box.origin[0] + box.extent[0]; ++i) {
      for (std::int64_t j = box.origin[1]; j < box.origin[1] + box.extent[1]; ++j) {
        ++count[static_cast<std::size_t>(i * shape[1] + j)];
      }
    }
  }
  return std::all_of(count.begin(), count.end(), [](int n) { return n == 1; });
}

TEST(Tiling, AcceptsGridsOfAnyRank) {
  EXPECT_THAT(tile({}, {Box{}}), IsOk());
  EXPECT_THAT(tile({10}, grid({10}, {3})), IsOk());
  EXPECT_THAT(tile({7, 5, 4}, grid({7, 5, 4}, {2, 5, 3})), IsOk());
  EXPECT_THAT(tile({512, 512, 2}, grid({512, 512, 2}, {1, 2, 2})), IsOk());
}

TEST(Tiling, AcceptsAPinwheelThatNoCutSeparates) {
  EXPECT_THAT(tile({3, 3}, {{{0, 0}, {1, 2}}, {{0, 2}, {2, 1}}, {{2, 1}, {1, 2}}, {{1, 0}, {2, 1}}, {{1, 1}, {1, 1}}}),
              IsOk());
}

TEST(Tiling, NamesTheOverlap) {
  auto boxes = grid({9, 9}, {3, 3});
  boxes[4].origin = {2, 3};
  EXPECT_THAT(tile({9, 9}, boxes), FailsWith(Code::kDataLoss, "overlap"));
  EXPECT_THAT(tile({4}, {{{0}, {3}}, {{2}, {2}}}), FailsWith(Code::kDataLoss, "[0:3] and [2:4], overlap"));
  EXPECT_THAT(tile({}, {Box{}, Box{}}), FailsWith(Code::kDataLoss, "overlap"));
}

TEST(Tiling, CountsWhatIsMissing) {
  auto boxes = grid({9, 9}, {3, 3});
  boxes.erase(boxes.begin() + 4);
  EXPECT_THAT(tile({9, 9}, boxes), FailsWith(Code::kDataLoss, "its 8 blocks provide 72 of 81 elements"));
  EXPECT_THAT(tile({9, 9}, {}), FailsWith(Code::kDataLoss, "its 0 blocks provide 0 of 81 elements"));
}

TEST(Tiling, RefusesWhatWouldTakeTooLong) {
  // Overlapping neighbours in one dimension, disjoint through the other, joined by a bar that blocks every cut.
  std::vector<Box> boxes;
  constexpr std::int64_t kSide = 40'000;
  for (std::int64_t i = 0; i + 1 < kSide; ++i) boxes.push_back({{i, i % 2}, {2, 1}});
  boxes.push_back({{0, 2}, {kSide, 1}});
  boxes.push_back({{kSide - 1, 0}, {1, 3}});
  EXPECT_THAT(tile({kSide, 3}, boxes), FailsWith(Code::kUnimplemented, "reasonable time"));
}

// Random cuts of a rectangle, half of them with one box moved or changed, against the definition.
TEST(Tiling, AgreesWithCounting) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int tiled = 0;
  for (int round = 0; round < 3000; ++round) {
    const Shape shape = {1 + below(9), 1 + below(9)};
    std::vector<Box> boxes = {Box::whole(shape)};
    for (std::int64_t cuts = below(8); cuts > 0; --cuts) {
      Box& box = boxes[static_cast<std::size_t>(below(static_cast<std::int64_t>(boxes.size())))];
      const auto d = static_cast<std::size_t>(below(2));
      if (box.extent[d] < 2) continue;
      Box rest = box;
      const std::int64_t at = 1 + below(box.extent[d] - 1);
      box.extent[d] = at;
      rest.origin[d] += at;
      rest.extent[d] -= at;
      boxes.push_back(rest);
    }
    if (round % 2 == 1) {
      Box& box = boxes[static_cast<std::size_t>(below(static_cast<std::int64_t>(boxes.size())))];
      box.origin = {below(shape[0]), below(shape[1])};
      box.extent = {1 + below(shape[0] - box.origin[0]), 1 + below(shape[1] - box.origin[1])};
    }
    const bool expected = tiles_by_counting(shape, boxes);
    ASSERT_EQ(tile(shape, boxes).ok(), expected) << "round " << round;
    tiled += expected ? 1 : 0;
  }
  EXPECT_GT(tiled, 1500);
  EXPECT_LT(tiled, 2500);
}

}  // namespace
}  // namespace shardwise
