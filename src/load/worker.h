// Worker: one thread of a load.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "io/memory.h"
#include "io/ring.h"
#include "load/generation.h"
#include "load/progress.h"
#include "load/scatter.h"
#include "load/scheduler.h"

namespace shardwise {

// Takes windows from the scheduler until none are left. Windows of files that are read directly are kept in flight on a
// ring, up to `slots` of them; everything else is read and worked off at once. Thread-compatible: made and run by one
// thread.
class Worker {
 public:
  Worker(LoadContext& context, Scheduler& scheduler, ProgressMeter& progress, unsigned slots)
      : context_(context),
        scheduler_(scheduler),
        progress_(progress),
        slot_count_(slots),
        scatter_(context, costs_),
        generation_(context, costs_) {}

  Status run(std::stop_token stop);
  const StageCosts& costs() const { return costs_; }

  // Memory of one slot: a window and the blocks of O_DIRECT that it begins and ends in.
  static std::uint64_t slot_bytes(const LoadPlan& plan);

 private:
  Status begin(std::stop_token stop);
  // Gives out one window: to the ring, or done at once.
  Status start(const Window& window, std::stop_token stop);
  Status finish_one(std::stop_token stop);
  Status read_now(const Window& window);
  Status work_now(const Window& window, std::stop_token stop);
  bool is_large(const Window& window) const { return window.range.size() > context_.plan.window; }
  bool joins_batch(const Window& next, std::uint64_t bytes_left) const;
  bool goes_to_ring(const Window& window) const;
  std::span<std::byte> slot(unsigned index) { return slots_.span().subspan(index * slot_bytes_, slot_bytes_); }

  LoadContext& context_;
  Scheduler& scheduler_;
  ProgressMeter& progress_;
  const unsigned slot_count_;
  StageCosts costs_;
  Scatter scatter_;
  Generation generation_;
  std::uint64_t slot_bytes_ = 0;
  HugeBuffer slots_;
  std::vector<Window> batch_;
  std::vector<unsigned> free_;
  std::vector<Window> in_slot_;
  std::unique_ptr<Ring> ring_;  // after slots_: its destructor waits for reads into them
};

}  // namespace shardwise
