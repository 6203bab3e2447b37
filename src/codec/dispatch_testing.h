// For tests: runs a check once for each instruction set that this processor has and the library was compiled for.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cstdint>

namespace shardwise::dispatch_testing {

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

}  // namespace shardwise::dispatch_testing
