#include "plan/pieces.h"

#include <gtest/gtest.h>

#include <random>

namespace shardwise {
namespace {

// Row-major position in `shape` of element number `i` of a box of it.
std::uint64_t position(const Shape& shape, const Box& box, std::uint64_t i) {
  std::vector<std::int64_t> at(box.rank());
  for (std::size_t d = box.rank(); d-- > 0;) {
    at[d] = box.origin[d] + static_cast<std::int64_t>(i % static_cast<std::uint64_t>(box.extent[d]));
    i /= static_cast<std::uint64_t>(box.extent[d]);
  }
  std::uint64_t out = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    out = out * static_cast<std::uint64_t>(shape[d]) + static_cast<std::uint64_t>(at[d]);
  }
  return out;
}

TEST(Pieces, AreBoxesThatCoverTheBoxInOrder) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 400; ++round) {
    Box box;
    Shape shape;
    const std::size_t rank = random() % 5;
    for (std::size_t d = 0; d < rank; ++d) {
      box.origin.push_back(static_cast<std::int64_t>(random() % 4));
      box.extent.push_back(static_cast<std::int64_t>(1 + random() % 9));
      shape.push_back(box.origin[d] + box.extent[d] + static_cast<std::int64_t>(random() % 3));
    }
    const std::uint64_t most = 1 + random() % 40;
    std::uint64_t done = 0;
    while (done < box.elements()) {
      const std::uint64_t count = piece_elements(box.extent, done, most);
      ASSERT_GE(count, 1u);
      ASSERT_LE(count, most);
      const Box piece = piece_box(box, done, count);
      ASSERT_TRUE(fits(piece, shape));
      ASSERT_EQ(piece.elements(), count) << to_string(box) << " at " << done;
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(position(shape, piece, i), position(shape, box, done + i));
      }
      done += count;
    }
    ASSERT_EQ(done, box.elements());
  }
}

TEST(Pieces, OfALongRowAreAboutEquallyLong) {
  EXPECT_EQ(piece_elements({3, 1000}, 0, 999), 500u);
  EXPECT_EQ(piece_elements({3, 1000}, 500, 999), 500u);
  EXPECT_EQ(piece_elements({3, 1000}, 1000, 999), 500u);
  EXPECT_EQ(piece_elements({100, 10}, 0, 64), 60u);
  EXPECT_EQ(piece_elements({}, 0, 64), 1u);
}

}  // namespace
}  // namespace shardwise
