// Segments -> reads in file order, joined where the coalescing policy says so.
#include <algorithm>
#include <map>
#include <utility>

#include "plan/runs.h"
#include "plan/segments.h"
#include "plan/windows.h"

namespace shardwise {
namespace {

// Tensors are taken in the order of their first byte; the blocks of one tensor stay together, in file order. For
// contiguous tensors that is plain file order; for tensors whose blocks interleave it lets each be finished before the
// next begins (what Retain::kDiscard lives from).
void order(std::vector<FiledSegment>& segments) {
  using Position = std::pair<std::uint32_t, std::uint64_t>;
  std::map<std::uint32_t, Position> first;
  const auto position = [](const FiledSegment& s) { return Position(s.file, s.segment.range.begin); };
  for (const FiledSegment& segment : segments) {
    if (segment.segment.is_fill()) continue;
    const auto [at, added] = first.try_emplace(segment.tensor_order, position(segment));
    if (!added) at->second = std::min(at->second, position(segment));
  }
  const auto tensor_position = [&](const FiledSegment& s) {
    const auto at = first.find(s.tensor_order);
    return at == first.end() ? Position(Extent::kNoFile, 0) : at->second;
  };
  std::vector<std::pair<std::pair<Position, std::uint32_t>, std::pair<Position, std::uint32_t>>> keys;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const FiledSegment& s = segments[i];
    keys.push_back({{tensor_position(s), s.tensor_order}, {position(s), i}});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<FiledSegment> sorted;
  sorted.reserve(segments.size());
  for (const auto& key : keys) sorted.push_back(segments[key.second.second]);
  segments = std::move(sorted);
}

}  // namespace

void make_reads(std::vector<FiledSegment> segments, LoadPlan& plan) {
  order(segments);
  for (const FiledSegment& next : segments) {
    const ByteRange range = next.segment.range;
    Read* last = plan.reads.empty() ? nullptr : &plan.reads.back();
    const bool same_file = last != nullptr && last->file == next.file;
    const bool after = same_file && range.begin >= last->range.end;
    bool joined = false;
    if (next.segment.is_fill()) {
      joined = same_file;
    } else if (!next.segment.generated) {
      joined = after &&
               joins(plan.options.coalesce, range.begin - last->range.end, std::min(range.size(), last->range.size()));
    }
    if (joined) {
      last->range.end = std::max(last->range.end, range.end);
      ++last->segment_count;
    } else {
      plan.reads.push_back({next.file, range, static_cast<std::uint32_t>(plan.segments.size()), 1});
    }
    plan.segments.push_back(next.segment);
  }
  WindowCursor cursor(plan);
  for (Window window; cursor.next(window);) {
    if (window.generated) plan.generated_bytes += window.range.size();
    if (window.file == Extent::kNoFile) continue;
    ++plan.reads_total.count;
    plan.reads_total.bytes += window.range.size();
  }
  std::uint32_t counted = Extent::kNoFile;  // tensor whose wanted elements are counted already
  for (const Segment& segment : plan.segments) {
    const PlannedTensor& tensor = plan.tensors[segment.tensor];
    if (segment.is_fill() || segment.generated) continue;
    if (segment.is_block()) {
      plan.reads_total.wanted_bytes += segment.range.size();
    } else if (tensor.read_whole) {
      plan.reads_total.wanted_bytes += segment.range.size();
    } else if (counted != segment.tensor) {
      plan.reads_total.wanted_bytes += wanted_elements(plan, segment) * unit_width(tensor.dtype);
      counted = segment.tensor;
    }
  }
}

}  // namespace shardwise
