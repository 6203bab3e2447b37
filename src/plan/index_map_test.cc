#include "plan/index_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/copies.h"
#include "plan/view_testing.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

// What the pieces of a box say, element by element: source index (row-major) per target element, -1 where none.
std::vector<std::int64_t> expand(const std::vector<Piece>& pieces, std::span<const std::int64_t> base_strides,
                                 std::uint64_t elements) {
  std::vector<std::int64_t> source(elements, -1);
  for (const Piece& piece : pieces) {
    const CopyLoops copy = whole_piece(piece, base_strides);
    std::vector<std::uint64_t> at(copy.dims.size(), 0);
    while (true) {
      std::uint64_t from = copy.source_offset;
      std::uint64_t to = copy.target_offset;
      for (std::size_t d = 0; d < at.size(); ++d) {
        from += at[d] * static_cast<std::uint64_t>(copy.dims[d].source_stride);
        to += at[d] * static_cast<std::uint64_t>(copy.dims[d].target_stride);
      }
      EXPECT_LT(to, elements);
      if (to < elements) {
        EXPECT_EQ(source[to], -1) << "element " << to << " is written twice";
        source[to] = static_cast<std::int64_t>(from);
      }
      std::size_t d = at.size();
      while (d > 0 && ++at[d - 1] == copy.dims[d - 1].extent) at[--d] = 0;
      if (d == 0) break;
    }
  }
  return source;
}

Box random_box(RandomViews& random, const Shape& shape) {
  Box box;
  for (const std::int64_t extent : shape) {
    box.origin.push_back(random.number(0, extent - 1));
    box.extent.push_back(random.number(1, extent - box.origin.back()));
  }
  return box;
}

std::vector<std::int64_t> naive(const View& view, const Box& box) {
  std::vector<std::int64_t> source;
  for (std::uint64_t i = 0; i < box.elements(); ++i) {
    std::vector<std::int64_t> index = unravel(static_cast<std::int64_t>(i), box.extent);
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.origin[d];
    source.push_back(naive_source(view, index));
  }
  return source;
}

TEST(IndexMap, RandomViewsAndBoxesEqualTheNaiveIndex) {
  RandomViews random(1);
  for (int round = 0; round < 4000; ++round) {
    const Shape source = random.shape(4, 8);
    const View view = random.view(source, static_cast<int>(random.number(0, 5)));
    const Box box = random_box(random, view.shape());
    std::vector<Piece> linear;
    ASSERT_THAT(IndexMap::of(view, IndexMap::Base::kLinear).pieces(box, linear), IsOk());
    const std::int64_t one = 1;
    ASSERT_EQ(expand(linear, {&one, 1}, box.elements()), naive(view, box))
        << to_string(source) << view.to_string() << " " << to_string(box);
    if (source.empty()) continue;
    std::vector<Piece> by_dimension;
    ASSERT_THAT(IndexMap::of(view, IndexMap::Base::kByDimension).pieces(box, by_dimension), IsOk());
    ASSERT_EQ(expand(by_dimension, row_major_strides(source), box.elements()), naive(view, box))
        << to_string(source) << view.to_string() << " " << to_string(box);
  }
}

// Blocks tile the base; the parts of the pieces in all blocks together are the view.
TEST(IndexMap, PiecesCutToBlocksCoverEveryElementOnce) {
  RandomViews random(2);
  for (int round = 0; round < 2000; ++round) {
    Shape source = random.shape(3, 9);
    if (source.empty()) source = {7};
    const View view = random.view(source, static_cast<int>(random.number(0, 4)));
    const Box box = random_box(random, view.shape());
    std::vector<Piece> pieces;
    ASSERT_THAT(IndexMap::of(view, IndexMap::Base::kByDimension).pieces(box, pieces), IsOk());
    Shape block;
    for (const std::int64_t extent : source) block.push_back(random.number(1, extent + 1));
    std::vector<std::int64_t> got(box.elements(), -1);
    std::vector<std::int64_t> grid(source.size(), 0);
    while (true) {
      Box part{{}, {}};
      for (std::size_t d = 0; d < grid.size(); ++d) {
        part.origin.push_back(grid[d] * block[d]);
        part.extent.push_back(std::min(block[d], source[d] - part.origin[d]));
      }
      for (const Piece& piece : pieces) {
        std::vector<CopyLoops> copies;
        piece_in_box(piece, part, block, copies);
        for (const CopyLoops& copy : copies) {
          std::vector<std::uint64_t> at(copy.dims.size(), 0);
          while (true) {
            std::uint64_t from = copy.source_offset, to = copy.target_offset;
            for (std::size_t d = 0; d < at.size(); ++d) {
              from += at[d] * static_cast<std::uint64_t>(copy.dims[d].source_stride);
              to += at[d] * static_cast<std::uint64_t>(copy.dims[d].target_stride);
            }
            std::vector<std::int64_t> index = unravel(static_cast<std::int64_t>(from), block);
            for (std::size_t d = 0; d < index.size(); ++d) {
              ASSERT_LT(index[d], part.extent[d]) << "outside the part of the block that belongs to the tensor";
              index[d] += part.origin[d];
            }
            ASSERT_LT(to, got.size());
            ASSERT_EQ(got[to], -1);
            got[to] = ravel(index, source);
            std::size_t d = at.size();
            while (d > 0 && ++at[d - 1] == copy.dims[d - 1].extent) at[--d] = 0;
            if (d == 0) break;
          }
        }
      }
      std::size_t d = grid.size();
      while (d > 0 && ++grid[d - 1] * block[d - 1] >= source[d - 1]) grid[--d] = 0;
      if (d == 0) break;
    }
    ASSERT_EQ(got, naive(view, box)) << to_string(source) << view.to_string() << " " << to_string(box);
  }
}

TEST(IndexMap, ViewsOfRealConvertersAreOnePiecePerBox) {
  const View gemma_query = View::of({1024, 640}).reshape({4, 256, 640}).value().transpose({0, 2, 1}).value();
  std::vector<Piece> pieces;
  ASSERT_THAT(IndexMap::of(gemma_query, IndexMap::Base::kLinear).pieces(Box{{2, 0, 0}, {1, 640, 256}}, pieces), IsOk());
  EXPECT_EQ(pieces.size(), 1u);
  pieces.clear();
  const View llama_query = View::of({1024, 640}).transpose({1, 0}).value().reshape({640, 4, 256}).value();
  ASSERT_THAT(IndexMap::of(llama_query, IndexMap::Base::kLinear).pieces(Box{{80, 0, 0}, {80, 4, 256}}, pieces), IsOk());
  EXPECT_EQ(pieces.size(), 1u);
}

TEST(IndexMap, RefusesAViewThatFallsApart) {
  // Every second element of a reshape that cuts through a transposed dimension: single elements, too many of them.
  const View reshaped = View::of({3, 1 << 20}).transpose({1, 0}).value().reshape({3, 1 << 20}).value();
  const View view = reshaped.slice({0, 0}, {3, 1 << 20}, {1, 2}).value();
  std::vector<Piece> pieces;
  EXPECT_THAT(IndexMap::of(view, IndexMap::Base::kLinear).pieces(Box::whole(view.shape()), pieces),
              FailsWith(Code::kResourceExhausted, "falls apart"));
}

TEST(ClipCopy, EveryWindowOfEveryCopyTogetherIsTheCopy) {
  RandomViews random(3);
  for (int round = 0; round < 3000; ++round) {
    const Shape source = random.shape(4, 7);
    const View view = random.view(source, static_cast<int>(random.number(0, 2)));
    const Box box = random_box(random, view.shape());
    std::vector<Piece> pieces;
    ASSERT_THAT(IndexMap::of(view, IndexMap::Base::kLinear).pieces(box, pieces), IsOk());
    const auto total = static_cast<std::uint64_t>(element_count(source).value());
    const auto window = static_cast<std::uint64_t>(random.number(1, static_cast<std::int64_t>(total)));
    std::set<std::pair<std::uint64_t, std::uint64_t>> expected, got;
    std::vector<CopyDim> scratch;
    const std::int64_t one = 1;
    const auto walk = [](auto& out, std::uint64_t from0, std::uint64_t to0, std::span<const CopyDim> dims) {
      std::vector<std::uint64_t> at(dims.size(), 0);
      while (true) {
        std::uint64_t from = from0, to = to0;
        for (std::size_t d = 0; d < at.size(); ++d) {
          from += at[d] * static_cast<std::uint64_t>(dims[d].source_stride);
          to += at[d] * static_cast<std::uint64_t>(dims[d].target_stride);
        }
        EXPECT_TRUE(out.emplace(from, to).second);
        std::size_t d = at.size();
        while (d > 0 && ++at[d - 1] == dims[d - 1].extent) at[--d] = 0;
        if (d == 0) return;
      }
    };
    for (const Piece& piece : pieces) {
      const CopyLoops copy = whole_piece(piece, {&one, 1});
      walk(expected, copy.source_offset, copy.target_offset, copy.dims);
      for (std::uint64_t first = 0; first < total; first += window) {
        clip_copy(copy.source_offset, copy.target_offset, copy.dims, first, first + window, scratch,
                  [&](std::uint64_t from, std::uint64_t to, std::span<const CopyDim> dims) {
                    EXPECT_GE(from, first);
                    EXPECT_LE(from + source_span(dims), first + window);
                    walk(got, from, to, dims);
                  });
      }
    }
    ASSERT_EQ(got, expected) << to_string(source) << view.to_string() << " window " << window;
  }
}

}  // namespace
}  // namespace shardwise
