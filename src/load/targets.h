// Targets: the buffers that a load fills, from allocation to publication.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "shardwise/load.h"
#include "shardwise/plan.h"

namespace shardwise {

// Buffers of all shards, one per local device. When arrays are kept, all are allocated before the first read; when they
// are discarded, each is allocated when its first window is handed out and dropped when its last one is done, never
// holding more than DevicePlan::load_bytes on a device.
//
// Thread-safe: windows of one variable may be finished by different threads; allocation is done by whoever holds the
// scheduler's lock. Buffers go when this object does.
class Targets {
 public:
  Targets(const LoadPlan& plan, const LoadOptions& options);

  // Counts windows per tensor and, when arrays are kept, allocates everything. Variables without elements are complete.
  Status begin();

  // Discarding: makes sure that the variables of this tensor have buffers. False: not enough room now; others must
  // finish first.
  Result<bool> prepare(std::uint32_t tensor);
  // Blocks until some array was dropped since `generation` was read, or a stop.
  std::uint64_t generation() const;
  Status wait_for_room(std::uint64_t generation, std::stop_token stop);

  // Where a shard's copy on a device lies. Valid between prepare() and the last finish_window() of its tensor.
  Buffer& buffer(std::uint32_t shard, std::size_t replica) { return *buffers_[first_buffer_[shard] + replica]; }

  // One window of the tensor is done; `fingerprint` is what it adds to the tensor's sum. The last one publishes.
  Status finish_window(std::uint32_t tensor, std::uint64_t fingerprint);

  std::size_t tensors_done() const { return tensors_done_; }
  // Everything, once the load has succeeded.
  Loaded take();

 private:
  std::vector<std::uint32_t> allocation_order() const;
  Status allocate(std::uint32_t variable);
  Status complete(std::uint32_t tensor);
  ShardedArray make_array(std::uint32_t variable) const;
  void drop(std::uint32_t variable);

  const LoadPlan& plan_;
  const LoadOptions& options_;
  const bool discard_;
  std::vector<std::size_t> first_buffer_;                 // per shard
  std::vector<std::shared_ptr<Buffer>> buffers_;          // per shard and replica
  std::vector<std::atomic<std::uint32_t>> windows_left_;  // per tensor
  std::vector<std::atomic<std::uint64_t>> sums_;          // per tensor
  std::vector<bool> allocated_;                           // per tensor; scheduler's lock
  std::atomic<std::size_t> tensors_done_{0};

  std::mutex publish_;       // one array at a time goes to on_array
  mutable std::mutex room_;  // guards held_ and generation_
  std::condition_variable_any dropped_;
  std::vector<std::uint64_t> held_;  // bytes per device
  std::uint64_t generation_ = 0;
};

}  // namespace shardwise
