// How a load runs.
//
// A scheduler cuts the plan's reads into windows and hands them out in file order. Each worker thread reads its window
// (straight into the shard where that is one dense run; else into a slot of its own, through a ring with several in
// flight where the file is not cached), adds it to the fingerprints, decodes, converts, and copies it to every shard
// and replica that wants part of it. Values that an initializer makes are windows too: made straight into the shard,
// then mirrored. The last window of a tensor completes its variables.
//
// Memory: slots, decoded blocks and tensors that can only be made whole share the staging budget; shards are allocated
// on their devices before the first read (or, when arrays are discarded, as their turn comes). Everything is owned by
// objects of this scope: an error joins the workers, then frees it all.
#include "shardwise/load.h"

#include <algorithm>
#include <thread>

#include "base/format.h"
#include "concurrency/budget.h"
#include "concurrency/task_group.h"
#include "load/files.h"
#include "load/progress.h"
#include "load/scheduler.h"
#include "load/targets.h"
#include "load/worker.h"
#include "shardwise/device.h"

namespace shardwise {
namespace {

constexpr unsigned kMaxThreads = 64;
// Slots of a thread that reads directly. Enough to keep a disk busy (three reads of 1 MiB in flight), few
// enough that what arrives is still in the processor's cache when it is worked off: 32 of them read 0.87 of the raw
// rate where 8 read all of it.
constexpr unsigned kMaxSlots = 8;

// How the staging budget is divided.
struct Division {
  unsigned threads = 1;
  unsigned slots = 1;             // per thread
  std::uint64_t slot_bytes = 0;   // all slots of all threads
  std::uint64_t block_bytes = 0;  // decoded blocks, tensors that are made whole
};

Division divide(const LoadPlan& plan, const std::vector<OpenFile>& files, unsigned wanted_threads) {
  const bool blocks =
      std::any_of(plan.segments.begin(), plan.segments.end(), [](const Segment& s) { return s.is_block(); });
  const bool ring = std::any_of(files.begin(), files.end(), [](const OpenFile& f) { return f.direct != nullptr; });
  const std::uint64_t staging = plan.host.staging_bytes;
  const std::uint64_t for_slots = std::min(blocks ? staging / 2 : staging, staging - plan.host.whole_bytes);
  const auto most = static_cast<unsigned>(for_slots / ReadAhead::slot_bytes(plan.window));
  Division out;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  out.threads = wanted_threads != 0 ? wanted_threads : cores;
  out.threads = std::clamp(out.threads, 1u, std::min(most, kMaxThreads));
  out.slots = ring ? std::clamp(most / out.threads, 1u, kMaxSlots) : 1;
  out.slot_bytes = std::uint64_t{out.threads} * out.slots * ReadAhead::slot_bytes(plan.window);
  out.block_bytes = staging - out.slot_bytes;
  return out;
}

Status check_devices(const LoadPlan& plan) {
  for (std::size_t d = 0; d < plan.devices.size(); ++d) {
    if (!plan.devices[d].local) continue;
    const auto& device = plan.mesh.devices()[d].device;
    if (device == nullptr) {
      return failed_precondition(
          "device {} of the mesh is a description only; load() needs devices, such as "
          "host_devices()",
          plan.devices[d].info.id);
    }
    device->reset_peak();
  }
  return Status();
}

void add(const StageCosts& costs, LoadStatistics& sum) {
  sum.read_seconds += costs.read_seconds;
  sum.decode_seconds += costs.decode_seconds;
  sum.copy_seconds += costs.copy_seconds;
  sum.fingerprint_seconds += costs.fingerprint_seconds;
  sum.generate_seconds += costs.generate_seconds;
  sum.bytes_generated += costs.bytes_generated;
  sum.bytes_read += costs.bytes_read;
  sum.bytes_copied += costs.bytes_copied;
  sum.reads += costs.reads;
}

LoadStatistics statistics(const LoadPlan& plan, const std::vector<OpenFile>& files, const std::vector<Worker*>& workers,
                          const Division& division, const Budget& blocks) {
  LoadStatistics out;
  for (const Worker* worker : workers) add(worker->costs(), out);
  out.bytes_wanted = plan.reads_total.wanted_bytes;
  out.staging_peak_bytes = division.slot_bytes + blocks.peak();
  for (const MeshDevice& device : plan.mesh.devices()) {
    out.device_peak_bytes.push_back(device.device ? device.device->memory().peak : 0);
  }
  for (const OpenFile& file : files) out.methods.push_back(file.method);
  return out;
}

}  // namespace

Result<Loaded> load(const LoadPlan& plan, const LoadOptions& options) {
  SHARDWISE_RETURN_IF_ERROR(check_fits(plan));
  SHARDWISE_RETURN_IF_ERROR(check_devices(plan));
  SHARDWISE_ASSIGN_OR_RETURN(std::vector<OpenFile> files, open_files(plan, options));
  SHARDWISE_ASSIGN_OR_RETURN(const auto generators, make_generators(plan));
  const Division division = divide(plan, files, options.threads);

  Targets targets(plan, options);
  ProgressMeter progress(plan, options, targets);
  SHARDWISE_RETURN_IF_ERROR(targets.begin());
  Budget blocks(division.block_bytes);
  Scheduler scheduler(plan, targets);
  FaultedPages faulted;
  LoadContext context{plan, options, files, targets, generators, faulted, blocks, division.threads};
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> all;
  TaskGroup group(options.stop);  // after what the tasks use: joined before any of it goes
  for (unsigned t = 0; t < division.threads; ++t) {
    workers.push_back(std::make_unique<Worker>(context, scheduler, progress, t, division.slots));
    all.push_back(workers.back().get());
    SHARDWISE_RETURN_IF_ERROR(group.start([worker = all.back()](std::stop_token stop) { return worker->run(stop); }));
  }
  SHARDWISE_RETURN_IF_ERROR(group.wait());
  if (options.stop.stop_requested()) return cancelled("the load was stopped");
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (files[f].file != nullptr) SHARDWISE_RETURN_IF_ERROR(check_unchanged(plan.files[f], *files[f].file));
  }
  Loaded loaded = targets.take();
  loaded.statistics = statistics(plan, files, all, division, blocks);
  progress.finish();
  loaded.statistics.seconds = progress.seconds();
  return loaded;
}

}  // namespace shardwise
