// Worker: one thread of a load.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "load/generation.h"
#include "load/prefault.h"
#include "load/progress.h"
#include "load/read_ahead.h"
#include "load/scatter.h"
#include "load/scheduler.h"

namespace shardwise {

// Takes windows from the scheduler until none are left. Windows of files that are read directly are read ahead;
// everything else is read and worked off at once. `index` counts the workers. Thread-compatible: made and run by one
// thread.
class Worker {
 public:
  Worker(LoadContext& context, Scheduler& scheduler, ProgressMeter& progress, unsigned index, unsigned slots)
      : context_(context),
        scheduler_(scheduler),
        progress_(progress),
        index_(index),
        slot_count_(slots),
        scatter_(context, costs_, index),
        generation_(context, costs_),
        prefault_(context.plan, context.targets, context.faulted) {}

  Status run(std::stop_token stop);
  const StageCosts& costs() const { return costs_; }

 private:
  Status begin();
  // Reads ahead, or does at once, the windows of batch_.
  Status start_batch(std::stop_token stop);
  // Works off a window that was read ahead; if none has arrived, waits for one. Precondition: the reads are busy.
  Status finish_or_wait(std::stop_token stop);
  Status read_now(const Window& window);
  Status work_now(const Window& window, std::stop_token stop);
  bool is_large(const Window& window) const { return window.range.size() > context_.plan.window; }
  bool joins_batch(const Window& next, std::uint64_t bytes_left) const;
  bool is_read_ahead(const Window& window) const;

  LoadContext& context_;
  Scheduler& scheduler_;
  ProgressMeter& progress_;
  const unsigned index_;
  const unsigned slot_count_;
  StageCosts costs_;
  Scatter scatter_;
  Generation generation_;
  Prefault prefault_;
  std::unique_ptr<ReadAhead> reads_;
  std::vector<Window> batch_;
};

}  // namespace shardwise
