// Scatter: bytes of a window -> shards. Decode, fingerprint, cast, copy, mirror.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "concurrency/budget.h"
#include "load/files.h"
#include "load/prefault.h"
#include "load/run_list.h"
#include "load/targets.h"
#include "plan/copies.h"
#include "plan/windows.h"
#include "shardwise/generator.h"
#include "shardwise/plan.h"

namespace shardwise {

// Seconds and bytes of one worker.
struct StageCosts {
  double read_seconds = 0;
  double decode_seconds = 0;
  double copy_seconds = 0;
  double fingerprint_seconds = 0;
  double generate_seconds = 0;
  std::uint64_t bytes_generated = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_copied = 0;
  std::uint64_t reads = 0;
};

// What all workers share.
struct LoadContext {
  const LoadPlan& plan;
  const LoadOptions& options;
  std::vector<OpenFile>& files;
  Targets& targets;
  const std::vector<std::optional<Generator>>& generators;  // per tensor; see make_generators()
  FaultedPages& faulted;
  Budget& block_budget;  // decoded blocks and their scratch; tensors that are made whole
  unsigned threads = 1;
};

// Works off windows whose bytes are in memory. One per worker; thread-compatible.
class Scatter {
 public:
  // `worker`: which of context.threads this one belongs to.
  Scatter(LoadContext& context, StageCosts& costs, unsigned worker)
      : context_(context), costs_(costs), worker_(worker), run_list_(context.plan, context.targets) {}

  // `bytes` are the file's bytes of window.range. Finishes the window's tensors.
  Status window(const Window& window, std::span<const std::byte> bytes, std::stop_token stop);
  // False when the shard's memory is not addressable by the host.
  bool can_read_into_shard(const Window& window) const;
  // Reads a direct window straight into its shard, then mirrors it.
  Status direct_window(const Window& window, const File& file);
  // Reads a window of long runs straight into its shards; false when it is not such a window.
  Result<bool> scattered_window(const Window& window, const File& file);
  // A window of one block that is larger than the window buffers: read, or streamed when its decoding exceeds the
  // budget.
  Status large_block(const Window& window, const File& file, std::stop_token stop);
  // A window of fill values.
  Status fill_window(const Window& window);

 private:
  // Of a direct window: its first element, and the copy that element belongs to.
  std::uint64_t first_element(const Window& window) const;
  const Copy* direct_copy(const Window& window, std::uint64_t first) const;
  Status raw(const Segment& segment, ByteRange range, std::span<const std::byte> bytes, std::uint64_t& sum);

  // Stored bytes of a block from an offset inside it on.
  using StoredBytes = std::function<Status(std::uint64_t offset, std::span<std::byte> target)>;
  Status block(const Segment& segment, std::span<const std::byte> stored, std::stop_token stop, std::uint64_t& sum);
  Status decode(const Segment& segment, std::span<const std::byte> stored, std::uint64_t& sum);
  Status stream_block(const Segment& segment, const StoredBytes& read_stored, std::stop_token stop, std::uint64_t& sum);
  Status decoded_part(const Segment& segment, std::uint64_t first, std::span<const std::byte> decoded,
                      std::uint64_t& sum);
  std::uint64_t decode_bytes(const Segment& segment) const;

  // Copies the part [first, last) of a row or block whose elements stand at `bytes`.
  Status copy_part(const Segment& segment, std::uint64_t first, std::uint64_t last, std::span<const std::byte> bytes);
  Status copy_to_shard(const Copy& copy, std::span<const CopyDim> dims, const std::byte* source,
                       std::uint64_t target_offset);
  std::span<const CopyDim> dims_of(const Copy& copy) const {
    return {context_.plan.copy_dims.data() + copy.first_dim, copy.dim_count};
  }

  LoadContext& context_;
  StageCosts& costs_;
  const unsigned worker_;
  std::vector<CopyDim> scratch_;
  RunList run_list_;
  std::vector<std::byte> packed_;  // a piece on its way to a device the host cannot address
};

}  // namespace shardwise
