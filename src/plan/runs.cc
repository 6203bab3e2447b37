#include "plan/runs.h"

#include <algorithm>
#include <span>

#include "plan/copies.h"

namespace shardwise {
namespace {

// Appends the runs of one copy. Dimensions are folded into the run, smallest stride first, while the policy would join
// their steps anyway; those left are walked.
void copy_runs(const Copy& copy, std::span<const CopyDim> dims, const CoalescePolicy& policy, std::uint64_t width,
               std::vector<ElementRun>& out) {
  std::uint64_t run = 1;
  std::size_t left = dims.size();
  std::uint64_t count = elements(dims);
  while (left > 0) {
    const CopyDim& dim = dims[left - 1];
    const auto stride = static_cast<std::uint64_t>(dim.source_stride);
    if (stride > run && !joins(policy, (stride - run) * width, run * width) && count <= kMaxRuns) break;
    run += (dim.extent - 1) * stride;
    count /= dim.extent;
    --left;
  }
  std::vector<std::uint64_t> at(left, 0);
  while (true) {
    std::uint64_t first = copy.source_offset;
    for (std::size_t i = 0; i < left; ++i) first += at[i] * static_cast<std::uint64_t>(dims[i].source_stride);
    out.push_back({first, first + run});
    std::size_t i = left;
    while (i > 0 && ++at[i - 1] == dims[i - 1].extent) at[--i] = 0;
    if (i == 0) return;
  }
}

std::span<const CopyDim> dims_of(const LoadPlan& plan, const Copy& copy) {
  return {plan.copy_dims.data() + copy.first_dim, copy.dim_count};
}

// Joins neighbours of sorted runs.
void join(std::vector<ElementRun>& runs, const CoalescePolicy& policy, std::uint64_t width) {
  std::size_t kept = 0;
  for (const ElementRun& run : runs) {
    if (kept > 0) {
      ElementRun& before = runs[kept - 1];
      const std::uint64_t gap = run.first > before.last ? run.first - before.last : 0;
      const std::uint64_t shorter = std::min(run.last - run.first, before.last - before.first);
      if (joins(policy, gap * width, shorter * width)) {
        before.last = std::max(before.last, run.last);
        continue;
      }
    }
    runs[kept++] = run;
  }
  runs.resize(kept);
}

// What touches becomes one run first, so that the policy sees how long the runs really are.
void sort_and_join(std::vector<ElementRun>& runs, const CoalescePolicy& policy, std::uint64_t width) {
  std::sort(runs.begin(), runs.end(), [](ElementRun a, ElementRun b) { return a.first < b.first; });
  join(runs, CoalescePolicy{0, 0}, width);
  join(runs, policy, width);
}

}  // namespace

bool joins(const CoalescePolicy& policy, std::uint64_t gap, std::uint64_t run) {
  return gap <= std::max(policy.min_gap, static_cast<std::uint64_t>(policy.gap_per_run * static_cast<double>(run)));
}

std::vector<ElementRun> wanted_runs(const LoadPlan& plan, const Segment& segment, std::uint64_t width) {
  const CoalescePolicy policy = segment.direct ? CoalescePolicy{0, 0} : plan.options.coalesce;
  std::vector<ElementRun> runs;
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    const Copy& copy = plan.copies[segment.first_copy + c];
    copy_runs(copy, dims_of(plan, copy), policy, width, runs);
  }
  sort_and_join(runs, policy, width);
  return runs;
}

std::uint64_t wanted_elements(const LoadPlan& plan, const Segment& segment) {
  // Copies of one variable are disjoint; two variables that take the same tensor may overlap, so runs are joined.
  std::vector<ElementRun> runs;
  const CoalescePolicy exact{0, 0};
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    const Copy& copy = plan.copies[segment.first_copy + c];
    copy_runs(copy, dims_of(plan, copy), exact, 1, runs);
  }
  sort_and_join(runs, exact, 1);
  std::uint64_t wanted = 0;
  for (const ElementRun& run : runs) wanted += run.last - run.first;
  return wanted;
}

}  // namespace shardwise
