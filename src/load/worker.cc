#include "load/worker.h"

#include <algorithm>

#include "base/checked.h"
#include "load/stopwatch.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kMinBatch = 8_MiB;
constexpr std::uint64_t kMaxBatch = 64_MiB;

}  // namespace

std::uint64_t Worker::slot_bytes(const LoadPlan& plan) {
  return round_up(plan.window, kDirectAlignment) + 2 * kDirectAlignment;
}

Status Worker::begin(std::stop_token) {
  slot_bytes_ = slot_bytes(context_.plan);
  SHARDWISE_ASSIGN_OR_RETURN(slots_, HugeBuffer::create(slot_bytes_ * slot_count_));
  in_slot_.resize(slot_count_);
  for (unsigned s = slot_count_; s-- > 0;) free_.push_back(s);
  for (const OpenFile& file : context_.files) {
    if (file.direct == nullptr || ring_ != nullptr) continue;
    SHARDWISE_ASSIGN_OR_RETURN(ring_, Ring::create(slot_count_));
  }
  return Status();
}

bool Worker::goes_to_ring(const Window& window) const {
  return window.file != Extent::kNoFile && !window.range.empty() && context_.files[window.file].direct != nullptr &&
         !is_large(window);
}

// Neighbours in a file, or in a shard that is made, are neighbours in memory: two threads at work on them would fault
// the same huge pages, and both clear them. So each takes a stretch of several windows at once, but for those that wait
// on a ring or for their turn. Stretches become shorter towards the end, so that all threads end together.
bool Worker::joins_batch(const Window& next, std::uint64_t bytes_left) const {
  const auto alone = [&](const Window& window) {
    if (window.range.empty() || is_large(window)) return true;
    return !window.generated && (goes_to_ring(window) || context_.files[window.file].in_order);
  };
  if (alone(next) || alone(batch_.front())) return false;
  const std::uint64_t most = std::clamp(bytes_left / (std::uint64_t{4} * context_.threads), kMinBatch, kMaxBatch);
  return batch_.size() * context_.plan.window < most;
}

Status Worker::run(std::stop_token stop) {
  SHARDWISE_RETURN_IF_ERROR(begin(stop));
  while (true) {
    if (stop.stop_requested()) return cancelled("the load was stopped");
    const bool flying = ring_ != nullptr && ring_->in_flight() > 0;
    if (free_.empty()) {
      SHARDWISE_RETURN_IF_ERROR(finish_one(stop));
      continue;
    }
    SHARDWISE_ASSIGN_OR_RETURN(
        const Scheduler::Answer answer,
        scheduler_.next(
            batch_, [&](const Window& next, std::uint64_t left) { return joins_batch(next, left); },
            [&](const Window& taken) { return read_now(taken); }));
    switch (answer) {
      case Scheduler::Answer::kWindow:
        for (const Window& window : batch_) {
          if (stop.stop_requested()) return cancelled("the load was stopped");
          SHARDWISE_RETURN_IF_ERROR(start(window, stop));
        }
        break;
      case Scheduler::Answer::kEnd:
        if (!flying) return Status();
        SHARDWISE_RETURN_IF_ERROR(finish_one(stop));
        break;
      case Scheduler::Answer::kNoRoom:
        SHARDWISE_RETURN_IF_ERROR(flying ? finish_one(stop) : scheduler_.wait_for_room(stop));
        break;
    }
  }
}

// With the scheduler's lock held: reads of streams that must come in order.
Status Worker::read_now(const Window& window) {
  if (window.file == Extent::kNoFile || !context_.files[window.file].in_order || is_large(window)) return Status();
  Stopwatch watch(costs_.read_seconds);
  return context_.files[window.file].file->read(window.range.begin, slot(free_.back()).first(window.range.size()));
}

Status Worker::start(const Window& window, std::stop_token stop) {
  if (!goes_to_ring(window)) {
    SHARDWISE_RETURN_IF_ERROR(work_now(window, stop));
    return progress_.add(window.range.size());
  }
  const std::uint64_t begin = round_down(window.range.begin, kDirectAlignment);
  const std::uint64_t end = round_up(window.range.end, kDirectAlignment);
  const unsigned index = free_.back();
  free_.pop_back();
  in_slot_[index] = window;
  return ring_->submit(*context_.files[window.file].direct, begin, slot(index).first(end - begin), index);
}

Status Worker::finish_one(std::stop_token stop) {
  Ring::Completion completion;
  {
    Stopwatch watch(costs_.read_seconds);
    SHARDWISE_ASSIGN_OR_RETURN(completion, ring_->wait());
  }
  SHARDWISE_RETURN_IF_ERROR(completion.status);
  const auto index = static_cast<unsigned>(completion.tag);
  const Window window = in_slot_[index];
  const std::uint64_t lead = window.range.begin - round_down(window.range.begin, kDirectAlignment);
  ++costs_.reads;
  costs_.bytes_read += window.range.size();
  SHARDWISE_RETURN_IF_ERROR(scatter_.window(window, slot(index).subspan(lead, window.range.size()), stop));
  free_.push_back(index);
  return progress_.add(window.range.size());
}

Status Worker::work_now(const Window& window, std::stop_token stop) {
  if (window.generated) return generation_.window(window, slot(free_.back()), stop);
  if (window.range.empty()) return scatter_.fill_window(window);
  const OpenFile& open = context_.files[window.file];
  if (is_large(window)) return scatter_.large_block(window, *open.file, stop);
  if (window.direct && !open.in_order && scatter_.can_read_into_shard(window)) {
    return scatter_.direct_window(window, *open.file);
  }
  if (open.method == ReadMethod::kBuffered) {
    SHARDWISE_ASSIGN_OR_RETURN(const bool done, scatter_.scattered_window(window, *open.file));
    if (done) return Status();
  }
  const auto bytes = slot(free_.back()).first(window.range.size());
  if (!open.in_order) {
    Stopwatch watch(costs_.read_seconds);
    SHARDWISE_RETURN_IF_ERROR(open.file->read(window.range.begin, bytes));
  }
  ++costs_.reads;
  costs_.bytes_read += window.range.size();
  return scatter_.window(window, bytes, stop);
}

}  // namespace shardwise
