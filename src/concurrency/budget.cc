#include "concurrency/budget.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <utility>

#include "base/format.h"
#include "concurrency/mutex.h"
#include "shardwise/bytes.h"

namespace shardwise {

// Those who wait stand in a queue; whoever gives bytes back hands them to the front, so that nobody overtakes.
struct Budget::State {
  struct Waiter {
    std::uint64_t bytes = 0;
    bool granted = false;
    std::condition_variable_any ready;
  };

  explicit State(std::uint64_t most) : limit(most) {}

  bool has_room(std::uint64_t bytes) const SHARDWISE_REQUIRES(mutex) { return bytes <= limit - in_use; }
  void take(std::uint64_t bytes) SHARDWISE_REQUIRES(mutex) {
    in_use += bytes;
    peak = std::max(peak, in_use);
  }
  // Serves the queue from its front as far as the free bytes reach.
  void grant() SHARDWISE_REQUIRES(mutex) {
    while (!waiting.empty() && has_room(waiting.front()->bytes)) {
      Waiter* const first = waiting.front();
      waiting.pop_front();
      take(first->bytes);
      first->granted = true;
      first->ready.notify_one();
    }
  }
  // Queues for `bytes`; false when stopped before they were granted.
  bool wait_for(std::uint64_t bytes, std::stop_token stop) {
    Waiter self;
    self.bytes = bytes;
    MutexLock lock(mutex);
    if (waiting.empty() && has_room(bytes)) {
      take(bytes);
      return true;
    }
    waiting.push_back(&self);
    self.ready.wait(lock, std::move(stop), [&] { return self.granted; });
    if (self.granted) return true;
    waiting.remove(&self);
    grant();  // the next in the queue may need less
    return false;
  }

  const std::uint64_t limit;
  mutable Mutex mutex;
  std::uint64_t in_use SHARDWISE_GUARDED_BY(mutex) = 0;
  std::uint64_t peak SHARDWISE_GUARDED_BY(mutex) = 0;
  std::list<Waiter*> waiting SHARDWISE_GUARDED_BY(mutex);
};

Budget::Budget(std::uint64_t limit) : state_(std::make_unique<State>(limit)) {}
Budget::~Budget() = default;

Budget::Reservation& Budget::Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void Budget::Reservation::release() {
  Budget* const budget = std::exchange(budget_, nullptr);
  const std::uint64_t bytes = std::exchange(bytes_, 0);
  if (budget == nullptr || bytes == 0) return;
  MutexLock lock(budget->state_->mutex);
  budget->state_->in_use -= bytes;
  budget->state_->grant();
}

Result<Budget::Reservation> Budget::reserve(std::uint64_t bytes, std::stop_token stop) {
  if (bytes > state_->limit) {
    return resource_exhausted("a budget of {} ({} bytes) can never lend {} ({} bytes)", format_bytes(state_->limit),
                              state_->limit, format_bytes(bytes), bytes);
  }
  if (stop.stop_requested() || !state_->wait_for(bytes, stop)) {
    return cancelled("stopped while waiting for {} of a budget of {}", format_bytes(bytes),
                     format_bytes(state_->limit));
  }
  return Reservation(this, bytes);
}

std::optional<Budget::Reservation> Budget::try_reserve(std::uint64_t bytes) {
  MutexLock lock(state_->mutex);
  if (!state_->waiting.empty() || bytes > state_->limit || !state_->has_room(bytes)) return std::nullopt;
  state_->take(bytes);
  return Reservation(this, bytes);
}

std::uint64_t Budget::limit() const { return state_->limit; }

std::uint64_t Budget::in_use() const {
  MutexLock lock(state_->mutex);
  return state_->in_use;
}

std::uint64_t Budget::peak() const {
  MutexLock lock(state_->mutex);
  return state_->peak;
}

}  // namespace shardwise
