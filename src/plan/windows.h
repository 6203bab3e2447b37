// Windows: how a Read is cut into single reads. Planner (to count them) and loader (to make them) share this rule.
#pragma once

#include <cstdint>
#include <vector>

#include "shardwise/plan.h"

namespace shardwise {

// One read of at most plan.window bytes (one block may be larger). Raw segments are cut at element boundaries, blocks
// never; `range` covers the parts of segments [first_segment, first_segment + segment_count) inside it. Fill segments
// make windows with an empty range; segments of values to be made are cut into pieces that are boxes of their shard,
// or not at all when their initializer makes no part alone.
struct Window {
  std::uint32_t file = Extent::kNoFile;
  ByteRange range;
  std::uint32_t first_segment = 0;
  std::uint32_t segment_count = 0;
  bool direct = false;     // one dense run of one shard and nothing else
  bool generated = false;  // `range` counts bytes of values that are made
};

// Bytes of one element as stored in memory and files; sub-byte types count packed bytes.
inline std::uint64_t unit_width(DType dtype) { return is_byte_sized(dtype) ? byte_width(dtype) : 1; }

// The windows of plan.reads in order, one after the other. Immutable plan borrowed; thread-compatible.
class WindowCursor {
 public:
  explicit WindowCursor(const LoadPlan& plan) : plan_(plan) {}
  // False at the end.
  bool next(Window& window);

 private:
  std::uint64_t row_bytes(const Segment& segment, std::uint64_t width) const;
  std::uint64_t part_of_raw(const Segment& segment, std::uint64_t room) const;
  void direct_window(const Segment& segment, Window& window);
  void generated_window(const Segment& segment, Window& window);

  const LoadPlan& plan_;
  std::size_t read_ = 0;
  std::uint32_t segment_ = 0;  // within the read
  std::uint64_t done_ = 0;     // bytes of that segment already given out
};

}  // namespace shardwise
