// Predictions: bytes per device and of the host, and what load-then-shard would need.
#pragma once

#include "shardwise/plan.h"

namespace shardwise {

// Fills bytes, load_bytes and peak_bytes of plan.devices from the shards and the order of the reads.
void predict_devices(LoadPlan& plan);
// Fills plan.host. Needs everything else of the plan.
void predict_host(const Catalog& catalog, LoadPlan& plan);
// Peaks of Keras 3.15's way: each variable whole on device 0, then cut.
LoadThenShard load_then_shard(const LoadPlan& plan);

// What one shard takes of a device.
std::uint64_t allocated_bytes(const DeviceInfo& device, std::uint64_t bytes);

}  // namespace shardwise
