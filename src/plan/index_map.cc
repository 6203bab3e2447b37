#include "plan/index_map.h"

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "plan/strides.h"

namespace shardwise {

// ---- Making the map ------------------------------------------------------------------------------------------------

IndexMap::Level IndexMap::start(const Shape& shape, Base base) {
  Level level;
  level.shape = shape;
  const std::vector<std::int64_t> strides = row_major_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool linear = base == Base::kLinear;
    level.dims.push_back({{shape[d], linear ? 0u : static_cast<std::uint32_t>(d), linear ? strides[d] : 1}});
  }
  level.origin.assign(base == Base::kLinear ? 1 : shape.size(), 0);
  return level;
}

// Digits [begin, begin + extent) of one dimension with `step`; false when that is no product of digit ranges.
bool IndexMap::narrow(std::vector<Digit>& digits, std::vector<std::int64_t>& origin, std::int64_t begin,
                      std::int64_t extent, std::int64_t step) {
  while (digits.size() > 1) {
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < digits.size(); ++i) inner *= digits[i].extent;
    const std::int64_t last = begin + (extent - 1) * step;
    if (begin / inner == last / inner) {  // one value of the first digit: it becomes part of the origin
      origin[digits[0].dim] += begin / inner * digits[0].step;
      begin %= inner;
      digits.erase(digits.begin());
      continue;
    }
    if (step != 1 || begin % inner != 0 || extent % inner != 0) return false;
    origin[digits[0].dim] += begin / inner * digits[0].step;
    digits[0].extent = extent / inner;
    return true;
  }
  origin[digits[0].dim] += begin * digits[0].step;
  digits[0].extent = extent;
  digits[0].step *= step;
  return true;
}

bool IndexMap::slice(const View::Step& step, Level& level) {
  Level next = level;
  for (std::size_t d = 0; d < step.output_shape.size(); ++d) {
    const bool whole = step.output_shape[d] == step.input_shape[d];
    if (whole || step.output_shape[d] == 0) continue;
    if (!narrow(next.dims[d], next.origin, step.a[d], step.output_shape[d], step.b[d])) return false;
  }
  next.shape = step.output_shape;
  level = std::move(next);
  return true;
}

bool IndexMap::reshape(const Shape& shape, Level& level) {
  std::vector<Digit> digits;  // of the row-major element number, extent-1 digits dropped, adjacent ones merged
  for (const auto& dim : level.dims) {
    for (const Digit& digit : dim) {
      if (digit.extent == 1) continue;
      if (!digits.empty() && digits.back().dim == digit.dim && digits.back().step == digit.step * digit.extent) {
        digits.back() = {digits.back().extent * digit.extent, digit.dim, digit.step};
      } else {
        digits.push_back(digit);
      }
    }
  }
  std::vector<std::vector<Digit>> dims(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {  // take digits from the least significant end
    std::int64_t need = shape[d];
    while (need > 1) {
      Digit& low = digits.back();
      const std::int64_t common = std::gcd(need, low.extent);
      if (common != low.extent && common != need) return false;
      dims[d].insert(dims[d].begin(), {common, low.dim, low.step});
      need /= common;
      low.step *= common;
      low.extent /= common;
      if (low.extent == 1) digits.pop_back();
    }
    if (dims[d].empty()) dims[d].push_back({1, 0, 0});
  }
  level.dims = std::move(dims);
  level.shape = shape;
  return true;
}

bool IndexMap::apply(const View::Step& step, Level& level) {
  switch (step.kind) {
    case View::Step::Kind::kReshape:
      return reshape(step.output_shape, level);
    case View::Step::Kind::kSlice:
      return slice(step, level);
    case View::Step::Kind::kTranspose: {
      std::vector<std::vector<Digit>> dims;
      for (std::int64_t p : step.a) dims.push_back(level.dims[static_cast<std::size_t>(p)]);
      level.dims = std::move(dims);
      level.shape = step.output_shape;
      return true;
    }
  }
  return false;
}

IndexMap IndexMap::of(const View& view, Base base) {
  IndexMap map;
  map.levels_.push_back(start(view.source_shape(), base));
  const Shape& result = view.shape();
  if (std::find(result.begin(), result.end(), 0) != result.end()) return map;  // nothing to map
  for (const View::Step& step : view.steps()) {
    if (apply(step, map.levels_.back())) continue;
    map.levels_.push_back(start(step.input_shape, Base::kLinear));
    apply(step, map.levels_.back());  // cannot fail: a fresh row of elements takes any single step
  }
  return map;
}

// ---- Using the map -------------------------------------------------------------------------------------------------

namespace {

// A product of digit ranges that is part of an interval of one dimension.
struct DigitRanges {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> extent;
  std::int64_t first = 0;  // index along the dimension of the part's first element
};

// Cuts [begin, end) of a mixed-radix number into products of digit ranges: at most two per digit and one.
void cut_interval(const std::vector<std::int64_t>& radix, std::size_t digit, std::int64_t begin, std::int64_t end,
                  DigitRanges& prefix, std::vector<DigitRanges>& out) {
  if (begin == end) return;
  if (digit == radix.size()) {
    out.push_back(prefix);
    return;
  }
  std::int64_t inner = 1;
  for (std::size_t i = digit + 1; i < radix.size(); ++i) inner *= radix[i];
  const auto part = [&](std::int64_t from, std::int64_t count, std::int64_t inner_begin, std::int64_t inner_end) {
    if (count <= 0) return;
    const std::int64_t saved = prefix.first;
    prefix.begin[digit] = from;
    prefix.extent[digit] = count;
    prefix.first += from * inner;
    cut_interval(radix, digit + 1, inner_begin, inner_end, prefix, out);
    prefix.first = saved;
  };
  const std::int64_t low = begin / inner;
  const std::int64_t high = end / inner;
  if (digit + 1 == radix.size()) {
    part(begin, end - begin, 0, 1);
    return;
  }
  if (low == high || (low + 1 == high && end % inner == 0)) {
    const std::int64_t stop = end - low * inner;
    part(low, 1, begin - low * inner, stop);
    return;
  }
  const std::int64_t full = begin % inner == 0 ? low : low + 1;
  if (full != low) part(low, 1, begin % inner, inner);
  part(full, high - full, 0, inner);
  if (end % inner != 0) part(high, 1, 0, end % inner);
}

Status too_many() {
  return resource_exhausted("a view falls apart into more than {} pieces; reshape to a shape that keeps its dimensions",
                            kMaxPieces);
}

}  // namespace

Status IndexMap::level_pieces(std::size_t index, const Box& box, const Target& target, std::vector<Piece>& out) const {
  const Level& level = levels_[index];
  std::vector<Piece> pieces(1);
  pieces[0].origin = level.origin;
  pieces[0].target_offset = target.offset;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    const std::vector<Digit>& digits = level.dims[d];
    std::vector<std::int64_t> radix;
    for (const Digit& digit : digits) radix.push_back(digit.extent);
    DigitRanges prefix{std::vector<std::int64_t>(radix.size()), std::vector<std::int64_t>(radix.size()), 0};
    std::vector<DigitRanges> parts;
    cut_interval(radix, 0, box.origin[d], box.origin[d] + box.extent[d], prefix, parts);
    std::vector<Piece> next;
    if (pieces.size() * parts.size() > kMaxPieces) return too_many();
    for (const Piece& piece : pieces) {
      for (const DigitRanges& part : parts) {
        Piece grown = piece;
        std::int64_t weight = 1;  // of the digit, in indices along the dimension
        grown.target_offset += (part.first - box.origin[d]) * target.strides[d];
        for (std::size_t i = digits.size(); i-- > 0;) {
          grown.origin[digits[i].dim] += part.begin[i] * digits[i].step;
          if (part.extent[i] != 1) {
            grown.loops.push_back({part.extent[i], digits[i].dim, digits[i].step, weight * target.strides[d]});
          }
          weight *= radix[i];
        }
        next.push_back(std::move(grown));
      }
    }
    pieces = std::move(next);
  }
  if (out.size() + pieces.size() > kMaxPieces) return too_many();
  if (index == 0) {
    out.insert(out.end(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
    return Status();
  }
  for (const Piece& piece : pieces) SHARDWISE_RETURN_IF_ERROR(descend(index, piece, out));
  return Status();
}

// A piece over the row of elements of the level below: walks its runs.
Status IndexMap::descend(std::size_t index, const Piece& piece, std::vector<Piece>& out) const {
  std::vector<PieceLoop> loops = piece.loops;
  std::sort(loops.begin(), loops.end(), [](const PieceLoop& a, const PieceLoop& b) { return a.step > b.step; });
  PieceLoop run{1, 0, 1, 0};
  if (!loops.empty() && loops.back().step == 1) {
    run = loops.back();
    loops.pop_back();
  }
  std::uint64_t runs = 1;  // each gives a piece or more: do not begin what cannot end well
  for (const PieceLoop& loop : loops) runs *= static_cast<std::uint64_t>(loop.extent);
  if (out.size() + runs > kMaxPieces) return too_many();
  std::vector<std::int64_t> at(loops.size(), 0);
  while (true) {
    std::int64_t first = piece.origin[0];
    std::int64_t target = piece.target_offset;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      first += at[i] * loops[i].step;
      target += at[i] * loops[i].target_stride;
    }
    SHARDWISE_RETURN_IF_ERROR(run_pieces(index - 1, first, run.extent, target, run.target_stride, out));
    std::size_t i = loops.size();
    while (i > 0 && ++at[i - 1] == loops[i - 1].extent) at[--i] = 0;
    if (i == 0) return Status();
  }
}

// Elements [first, first + count) of the row-major result of a level: boxes of that level.
Status IndexMap::run_pieces(std::size_t index, std::int64_t first, std::int64_t count, std::int64_t target_offset,
                            std::int64_t target_stride, std::vector<Piece>& out) const {
  const Shape& shape = levels_[index].shape;
  DigitRanges prefix{std::vector<std::int64_t>(shape.size()), std::vector<std::int64_t>(shape.size()), 0};
  std::vector<DigitRanges> parts;
  cut_interval(shape, 0, first, first + count, prefix, parts);
  Target target{row_major_strides(shape), 0};
  for (std::int64_t& stride : target.strides) stride *= target_stride;
  for (const DigitRanges& part : parts) {
    target.offset = target_offset + (part.first - first) * target_stride;
    SHARDWISE_RETURN_IF_ERROR(level_pieces(index, Box{part.begin, part.extent}, target, out));
  }
  return Status();
}

Status IndexMap::pieces(const Box& box, std::vector<Piece>& out) const {
  if (box.elements() == 0) return Status();
  return level_pieces(levels_.size() - 1, box, Target{row_major_strides(box.extent), 0}, out);
}

}  // namespace shardwise
