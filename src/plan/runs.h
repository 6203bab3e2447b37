// The runs of a stored row of elements that a plan wants, and the coalescing policy.
#pragma once

#include <cstdint>
#include <vector>

#include "shardwise/plan.h"

namespace shardwise {

// Elements [first, last).
struct ElementRun {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// True when two runs with this gap (bytes) between them are read as one; `run` is the shorter one's length.
bool joins(const CoalescePolicy& policy, std::uint64_t gap, std::uint64_t run);

// What the segment's copies want of their tensor, sorted, neighbours joined by the policy (direct segments: only where
// nothing lies between). A copy of more than kMaxRuns runs is widened along its smallest stride until it has fewer.
inline constexpr std::uint64_t kMaxRuns = std::uint64_t{1} << 20;
std::vector<ElementRun> wanted_runs(const LoadPlan& plan, const Segment& segment, std::uint64_t width);

// Elements that the copies of the segment take out of [first, last) of their tensor, each counted once.
std::uint64_t wanted_elements(const LoadPlan& plan, const Segment& segment);

}  // namespace shardwise
