// load(): runs a LoadPlan.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "shardwise/file.h"
#include "shardwise/fingerprint.h"
#include "shardwise/plan.h"
#include "shardwise/sharded_array.h"
#include "shardwise/status.h"

namespace shardwise {

struct Progress {
  std::uint64_t bytes_done = 0;  // of storage, and of values that are made
  std::uint64_t bytes_total = 0;
  std::size_t tensors_done = 0;
  std::size_t tensors_total = 0;
  double seconds = 0;           // since the load began
  double bytes_per_second = 0;  // over the last seconds
  double seconds_left = 0;      // at that rate
};

// How the bytes of a file were read; decided per file by looking at the page cache and at what the file system can do.
enum class ReadMethod : std::uint8_t { kBuffered, kDirect, kMemory };
std::string_view to_string(ReadMethod method);

struct LoadStatistics {
  double seconds = 0;
  std::uint64_t bytes_wanted = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_generated = 0;  // made by initializers, each once
  std::uint64_t bytes_copied = 0;     // written to shards by a copy (not read into them directly)
  std::uint64_t reads = 0;
  double read_seconds = 0;    // summed over threads
  double decode_seconds = 0;  // inflate, unshuffle, checksums
  double copy_seconds = 0;    // cast, scatter, mirror
  double generate_seconds = 0;
  double fingerprint_seconds = 0;
  std::uint64_t staging_peak_bytes = 0;
  std::vector<std::uint64_t> device_peak_bytes;  // one per device of the mesh; 0 for those without a device object
  std::vector<ReadMethod> methods;               // one per file of the plan
};

struct LoadOptions {
  // Called from one thread at a time, at most about ten times a second, and once at the end. Must not block for long.
  std::function<void(const Progress&)> progress = {};
  // Request a stop and load() returns CANCELLED with nothing left behind.
  std::stop_token stop = {};
  unsigned threads = 0;  // 0 = one per core, two where files are read directly
  bool fingerprints = true;
  // Receives each array once it is complete (from one thread at a time); with Retain::kDiscard nobody else keeps it.
  // An error that it returns fails the load.
  std::function<Status(const ShardedArray&)> on_array = {};
  // How files of the plan are opened; null = from disk, checked against the identity in the plan.
  std::function<Result<std::shared_ptr<const File>>(const CatalogFile&)> open = {};
  std::optional<ReadMethod> method = {};  // for tests and benchmarks: instead of looking
};

// The arrays of a load, in the order of the plan's variables (empty with Retain::kDiscard), and what it cost.
struct Loaded {
  std::vector<ShardedArray> arrays;
  std::vector<std::optional<Fingerprint>> fingerprints;  // per PlannedTensor: of the tensor as stored
  LoadStatistics statistics;

  auto begin() const { return arrays.begin(); }
  auto end() const { return arrays.end(); }
};

// Reads every byte that the plan wants once, and makes every value that it wants made, straight into the shards. All or
// nothing: on an error, or when stopped,
// everything that was allocated is freed before it returns, all threads are joined, and no array has been published
// (arrays already handed to on_array excepted). Uses at most plan.options.staging bytes of staging.
//
// Errors: RESOURCE_EXHAUSTED (does not fit; refused before anything is allocated), FAILED_PRECONDITION (a mesh without
// device objects; a file changed since the plan was made), DATA_LOSS, UNAVAILABLE, CANCELLED.
Result<Loaded> load(const LoadPlan& plan, const LoadOptions& options = {});

// Fingerprint of an array's values: equals that of its stored tensor when it was loaded without view and cast.
Result<Fingerprint> fingerprint(const ShardedArray& array);

}  // namespace shardwise
