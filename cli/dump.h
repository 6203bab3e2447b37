// Dump: what each device holds, as safetensors files that any program can check.
#pragma once

#include <memory>
#include <string>

#include "shardwise/plan.h"
#include "shardwise/sharded_array.h"
#include "shardwise/status.h"

namespace shardwise::cli {

// Writes DIR/device-K.safetensors for every local device K: its shard of each tensor, under the tensor's name. The
// header's __metadata__ holds "device" (its id), "mesh", "coordinates" and "shards": JSON text {name: {"dtype",
// "shape", "layout", "origin", "extent"}} with the shape of the whole tensor and the box that the device holds.
//
// Arrays are written as they come, in any order, so it works with discarded arrays too. Files appear under their names
// when finish() succeeds; until then, and when the dump is destroyed without it, nothing of them stays. Replaces files
// of the same name. Thread-compatible.
class Dump {
 public:
  // Creates the folder when it is missing, and files of their final size.
  // Errors: UNIMPLEMENTED for a dtype or name that safetensors lacks; UNAVAILABLE, PERMISSION_DENIED for the file
  // system.
  static Result<std::unique_ptr<Dump>> create(const std::string& folder, const LoadPlan& plan);
  ~Dump();
  Dump(const Dump&) = delete;
  Dump& operator=(const Dump&) = delete;

  Status add(const ShardedArray& array);
  Status finish();

 private:
  struct State;
  explicit Dump(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardwise::cli
