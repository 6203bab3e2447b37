// For tests: choice among the instruction sets that this processor has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cstdint>

namespace shardwise::dispatch_testing {

// Runs a check once for each instruction set.
template <typename F>
void for_each_target(F&& check) {
  const auto all = static_cast<std::uint64_t>(hwy::SupportedTargets());
  for (std::uint64_t left = all; left != 0; left &= left - 1) {
    const auto one = static_cast<std::int64_t>(left & -left);
    SCOPED_TRACE(hwy::TargetName(one));
    hwy::GetChosenTarget().Update(one);
    check();
  }
  hwy::GetChosenTarget().Update(static_cast<std::int64_t>(all));
}

// Makes the library use any one of them; all may be used again at the end of the scope.
class RandomTarget {
 public:
  explicit RandomTarget(std::uint64_t random) {
    auto left = static_cast<std::uint64_t>(hwy::SupportedTargets());
    for (std::uint64_t skip = random % static_cast<std::uint64_t>(std::popcount(left)); skip != 0; --skip)
      left &= left - 1;
    hwy::GetChosenTarget().Update(static_cast<std::int64_t>(left & -left));
  }
  RandomTarget(const RandomTarget&) = delete;
  ~RandomTarget() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }
};

}  // namespace shardwise::dispatch_testing
