// Scheduler: hands the windows of a plan to workers, in order, each once its targets exist.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <vector>

#include "load/targets.h"
#include "plan/windows.h"

namespace shardwise {

// Thread-safe. Borrows plan and targets.
class Scheduler {
 public:
  Scheduler(const LoadPlan& plan, Targets& targets)
      : targets_(targets), plan_(plan), cursor_(plan), bytes_left_(plan.reads_total.bytes + plan.generated_bytes) {}

  enum class Answer : std::uint8_t { kWindow, kEnd, kNoRoom };
  // The next windows, at least one; their tensors have buffers. kNoRoom: the devices are full until earlier windows are
  // finished; a worker with windows in flight finishes those first, one without waits (wait_for_room). `joins(window,
  // bytes left)` says whether one more window may follow those in `batch`. Calls `take` for each with the lock held, so
  // that what it does happens in window order.
  template <typename Joins, typename Take>
  Result<Answer> next(std::vector<Window>& batch, const Joins& joins, const Take& take);

  Status wait_for_room(std::stop_token stop) { return targets_.wait_for_room(generation_seen(), stop); }

 private:
  // Generation of the targets when the last kNoRoom was given: a drop since then ends the wait at once.
  std::uint64_t generation_seen() {
    std::lock_guard lock(mutex_);
    return generation_;
  }

  // Looks at the next window without taking it: kWindow when its tensors have buffers.
  Result<Answer> look();

  Targets& targets_;
  const LoadPlan& plan_;
  std::mutex mutex_;
  WindowCursor cursor_;
  Window pending_;
  bool has_pending_ = false;
  std::uint64_t bytes_left_;  // of windows not handed out yet
  std::uint64_t generation_ = 0;
};

inline Result<Scheduler::Answer> Scheduler::look() {
  if (!has_pending_) {
    if (!cursor_.next(pending_)) return Answer::kEnd;
    has_pending_ = true;
  }
  generation_ = targets_.generation();  // read before trying, so that no drop in between is missed
  for (std::uint32_t s = 0; s < pending_.segment_count; ++s) {
    SHARDWISE_ASSIGN_OR_RETURN(const bool ready, targets_.prepare(plan_.segments[pending_.first_segment + s].tensor));
    if (!ready) return Answer::kNoRoom;
  }
  return Answer::kWindow;
}

template <typename Joins, typename Take>
Result<Scheduler::Answer> Scheduler::next(std::vector<Window>& batch, const Joins& joins, const Take& take) {
  std::lock_guard lock(mutex_);
  batch.clear();
  while (true) {
    SHARDWISE_ASSIGN_OR_RETURN(const Answer answer, look());
    if (answer != Answer::kWindow) return batch.empty() ? answer : Answer::kWindow;
    if (!batch.empty() && !joins(pending_, bytes_left_)) return Answer::kWindow;
    has_pending_ = false;
    bytes_left_ -= std::min(bytes_left_, pending_.range.size());
    batch.push_back(pending_);
    SHARDWISE_RETURN_IF_ERROR(take(pending_));
  }
}

}  // namespace shardwise
