// Bindings -> segments and copies: which stored elements go where.
#pragma once

#include <cstdint>
#include <vector>

#include "shardwise/plan.h"
#include "shardwise/status.h"

namespace shardwise {

// A segment together with the file it is in, before reads are formed.
struct FiledSegment {
  std::uint32_t file = Extent::kNoFile;
  std::uint32_t tensor_order = 0;  // blocks of one tensor stay together when tensors interleave
  Segment segment;
};

// Fills plan.{encodings, tensors, variables, shards, copies, copy_dims, boxes} and returns the segments, unordered.
// `plan.devices` must be there. Errors: INVALID_ARGUMENT for sub-byte tensors that a layout cuts inside a byte;
// RESOURCE_EXHAUSTED for views that fall apart into too many pieces.
Result<std::vector<FiledSegment>> make_segments(const Bindings& bindings, LoadPlan& plan);

// Orders the segments, joins neighbours by plan.options.coalesce, and fills plan.{reads, segments, reads_total}.
void make_reads(std::vector<FiledSegment> segments, LoadPlan& plan);

// Reading a straight run is worth the loss of batching from this length on.
inline constexpr std::uint64_t kMinDirectBytes = 128 << 10;

}  // namespace shardwise
