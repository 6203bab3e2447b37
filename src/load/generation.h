// Generation: values of initializers -> shards. Made in place, fingerprinted, mirrored.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "load/scatter.h"
#include "plan/windows.h"
#include "shardwise/initializer.h"

namespace shardwise {

// The generator of each planned tensor whose values are made part by part; nothing for the others.
// Errors: those of make_generator().
Result<std::vector<std::optional<Generator>>> make_generators(const LoadPlan& plan);

// Works off windows of values to be made, as Scatter does with what is read. One per worker; thread-compatible.
class Generation {
 public:
  Generation(LoadContext& context, StageCosts& costs) : context_(context), costs_(costs) {}

  // Makes the window's values and finishes it. `staged`, at least a window's bytes, is used for devices whose memory
  // the host cannot address; elsewhere the values are made where they stay.
  Status window(const Window& window, std::span<std::byte> staged, std::stop_token stop);

 private:
  // A tensor that is made whole, within the budget, and then cut into its shards.
  Status whole(const Segment& segment, std::span<std::byte> staged, std::stop_token stop, std::uint64_t& sum);
  // Bytes `range` of a shard, a piece of it, to all its replicas.
  Status piece(const Generator& generator, std::uint32_t shard, ByteRange range, std::span<std::byte> staged,
               std::uint64_t& sum);
  Status mirror(std::uint32_t shard, ByteRange range, std::span<const std::byte> made);

  LoadContext& context_;
  StageCosts& costs_;
};

}  // namespace shardwise
