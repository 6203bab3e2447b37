// IndexMap: a View worked out, so that any box of the variable becomes strided pieces of the stored tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "shardwise/shape.h"
#include "shardwise/status.h"
#include "shardwise/view.h"

namespace shardwise {

// One loop of a piece: `extent` steps of `step` along one dimension of the base, and of `target_stride` in the target.
struct PieceLoop {
  std::int64_t extent = 1;
  std::uint32_t dim = 0;  // of the base
  std::int64_t step = 1;
  std::int64_t target_stride = 0;
};

// Elements of the base at `origin` + the loops, and where they go in the target (elements, from `target_offset`).
struct Piece {
  std::vector<std::int64_t> origin;  // one per base dimension
  std::vector<PieceLoop> loops;
  std::int64_t target_offset = 0;
};

// Pieces of one box: at most this many, else RESOURCE_EXHAUSTED (only compositions that no mixed radix describes, such
// as reshape(3, 2) of a transposed (2, 3), fall apart into many).
inline constexpr std::size_t kMaxPieces = std::size_t{1} << 20;

// Each dimension of the variable is a mixed-radix number whose digits step along dimensions of the base: reshape
// splits and joins digits, transpose permutes dimensions, slice narrows them. Where a reshape cuts through a digit, the
// map continues on a second level whose base is the first level's result.
//
// The base is the stored tensor itself (kByDimension; needed when it is stored in blocks), or the row of all its
// elements in row-major order (kLinear; every reshape of an unpermuted tensor is one level). Immutable once made.
class IndexMap {
 public:
  enum class Base : std::uint8_t { kLinear, kByDimension };
  static IndexMap of(const View& view, Base base);

  // Appends the pieces of `box` (in the variable's shape); targets are the row-major elements of the box.
  Status pieces(const Box& box, std::vector<Piece>& out) const;

 private:
  struct Digit {
    std::int64_t extent;
    std::uint32_t dim;
    std::int64_t step;
  };
  // Variable dimension -> digits, most significant first; base index = origin + sum of digit * step per base dimension.
  struct Level {
    std::vector<std::vector<Digit>> dims;
    std::vector<std::int64_t> origin;
    Shape shape;  // of the result
  };

  static Level start(const Shape& shape, Base base);
  static bool apply(const View::Step& step, Level& level);
  static bool reshape(const Shape& shape, Level& level);
  static bool slice(const View::Step& step, Level& level);
  static bool narrow(std::vector<Digit>& digits, std::vector<std::int64_t>& origin, std::int64_t begin,
                     std::int64_t extent, std::int64_t step);

  struct Target {
    std::vector<std::int64_t> strides;  // per variable dimension
    std::int64_t offset = 0;            // of the box's first element
  };
  Status level_pieces(std::size_t level, const Box& box, const Target& target, std::vector<Piece>& out) const;
  Status descend(std::size_t level, const Piece& piece, std::vector<Piece>& out) const;
  Status run_pieces(std::size_t level, std::int64_t first, std::int64_t count, std::int64_t target_offset,
                    std::int64_t target_stride, std::vector<Piece>& out) const;

  std::vector<Level> levels_;  // [0] is next to the base
};

}  // namespace shardwise
