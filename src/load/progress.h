// ProgressMeter: what a load has done so far, told to its caller.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "load/targets.h"
#include "shardwise/load.h"

namespace shardwise {

// Thread-safe; at most one call of the callback at a time, about ten a second.
class ProgressMeter {
 public:
  ProgressMeter(const LoadPlan& plan, const LoadOptions& options, const Targets& targets);

  // Bytes of storage that were worked off, or of values that were made.
  Status add(std::uint64_t bytes);
  // The last call, whatever the time since the one before.
  void finish();
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  void report(Clock::time_point now);

  const LoadOptions& options_;
  const Targets& targets_;
  const std::uint64_t total_;
  const std::size_t tensors_;
  const Clock::time_point start_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;  // guards the rest
  Clock::time_point last_;
  std::uint64_t last_done_ = 0;
  double rate_ = 0;  // smoothed over about two seconds
};

}  // namespace shardwise
