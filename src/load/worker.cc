#include "load/worker.h"

#include <algorithm>

#include "load/stopwatch.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kMinBatch = 8_MiB;
constexpr std::uint64_t kMaxBatch = 64_MiB;

}  // namespace

Status Worker::begin() {
  const bool direct = std::any_of(context_.files.begin(), context_.files.end(),
                                  [](const OpenFile& file) { return file.direct != nullptr; });
  SHARDWISE_ASSIGN_OR_RETURN(reads_, ReadAhead::create(context_.plan.window, slot_count_, direct));
  return Status();
}

bool Worker::is_read_ahead(const Window& window) const {
  return window.file != Extent::kNoFile && !window.range.empty() && context_.files[window.file].direct != nullptr &&
         !is_large(window);
}

// Neighbours in a file, or in a shard that is made, are neighbours in memory: two threads at work on them would fault
// the same huge pages, and both clear them. So each takes a stretch of several windows at once: as many as are read
// ahead together, or else more, but fewer towards the end, so that all threads end together. Those that wait for their
// turn, and large ones, come alone.
bool Worker::joins_batch(const Window& next, std::uint64_t bytes_left) const {
  const auto alone = [&](const Window& window) {
    if (window.range.empty() || is_large(window)) return true;
    return !window.generated && context_.files[window.file].in_order;
  };
  if (alone(next) || alone(batch_.front())) return false;
  if (is_read_ahead(next) != is_read_ahead(batch_.front())) return false;
  if (is_read_ahead(next)) return next.file == batch_.front().file && batch_.size() < reads_->stretch();
  const std::uint64_t most = std::clamp(bytes_left / (std::uint64_t{4} * context_.threads), kMinBatch, kMaxBatch);
  return batch_.size() * context_.plan.window < most;
}

Status Worker::run(std::stop_token stop) {
  SHARDWISE_RETURN_IF_ERROR(begin());
  while (true) {
    if (stop.stop_requested()) return cancelled("the load was stopped");
    SHARDWISE_RETURN_IF_ERROR(reads_->reap());
    if (!reads_->has_room()) {
      SHARDWISE_RETURN_IF_ERROR(finish_or_wait(stop));
      continue;
    }
    SHARDWISE_ASSIGN_OR_RETURN(
        const Scheduler::Answer answer,
        scheduler_.next(
            batch_, [&](const Window& next, std::uint64_t left) { return joins_batch(next, left); },
            [&](const Window& taken) { return read_now(taken); }));
    switch (answer) {
      case Scheduler::Answer::kWindow:
        SHARDWISE_RETURN_IF_ERROR(start_batch(stop));
        break;
      case Scheduler::Answer::kEnd:
        if (!reads_->is_busy()) return Status();
        SHARDWISE_RETURN_IF_ERROR(finish_or_wait(stop));
        break;
      case Scheduler::Answer::kNoRoom:
        SHARDWISE_RETURN_IF_ERROR(reads_->is_busy() ? finish_or_wait(stop) : scheduler_.wait_for_room(stop));
        break;
    }
  }
}

// With the scheduler's lock held: reads of streams that must come in order.
Status Worker::read_now(const Window& window) {
  if (window.file == Extent::kNoFile || !context_.files[window.file].in_order || is_large(window)) return Status();
  Stopwatch watch(costs_.read_seconds);
  return context_.files[window.file].file->read(window.range.begin, reads_->scratch().first(window.range.size()));
}

Status Worker::start_batch(std::stop_token stop) {
  if (is_read_ahead(batch_.front())) {
    SHARDWISE_RETURN_IF_ERROR(reads_->submit(*context_.files[batch_.front().file].direct, batch_));
    for (const Window& window : batch_) prefault_.add(window);
    return Status();
  }
  // Two threads in step would come to one huge page at the same time where small shards lie side by side. Every other
  // one goes backwards, unless a disk would have to.
  const Window& first = batch_.front();
  if (index_ % 2 == 1 && (first.generated || (first.file != Extent::kNoFile && context_.files[first.file].cached))) {
    std::reverse(batch_.begin(), batch_.end());
  }
  for (const Window& window : batch_) {
    if (stop.stop_requested()) return cancelled("the load was stopped");
    SHARDWISE_RETURN_IF_ERROR(work_now(window, stop));
    SHARDWISE_RETURN_IF_ERROR(progress_.add(window.range.size()));
  }
  return Status();
}

Status Worker::finish_or_wait(std::stop_token stop) {
  if (!reads_->has_arrived()) {
    if (prefault_.step()) return Status();
    Stopwatch watch(costs_.read_seconds);
    return reads_->wait();  // to be worked off after the next reads were asked for
  }
  const Window window = reads_->front();
  prefault_.drop(window);
  ++costs_.reads;
  costs_.bytes_read += window.range.size();
  SHARDWISE_RETURN_IF_ERROR(scatter_.window(window, reads_->front_bytes(), stop));
  reads_->pop();
  return progress_.add(window.range.size());
}

Status Worker::work_now(const Window& window, std::stop_token stop) {
  if (window.generated) return generation_.window(window, reads_->scratch(), stop);
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
  const auto bytes = reads_->scratch().first(window.range.size());
  if (!open.in_order) {
    Stopwatch watch(costs_.read_seconds);
    SHARDWISE_RETURN_IF_ERROR(open.file->read(window.range.begin, bytes));
  }
  ++costs_.reads;
  costs_.bytes_read += window.range.size();
  return scatter_.window(window, bytes, stop);
}

}  // namespace shardwise
