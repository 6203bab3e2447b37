#include "cli/bench_run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <thread>

#include "base/format.h"
#include "cli/raw_read.h"
#include "cli/request.h"
#include "io/memory.h"
#include "shardwise/checkpoint.h"
#include "shardwise/device.h"
#include "shardwise/load.h"

namespace shardwise::cli {
namespace {

// Shares of the page cache that still count as warm and as cold.
constexpr double kWarmShare = 0.99;
constexpr double kColdShare = 0.01;

enum class Phase : std::uint8_t { kWarm, kCold };

struct NamedPlan {
  std::string layout;
  LoadPlan plan;
};

// Everything a measurement needs, made once.
struct Setup {
  const BenchRequest& request;
  std::stop_token stop;
  std::vector<FileRange> ranges;
  std::vector<NamedPlan> plans;
};

// Where the bytes of the selected tensors lie, neighbours joined.
Result<std::vector<FileRange>> stored_ranges(const Catalog& catalog,
                                             const std::function<bool(const std::string&)>& selector) {
  std::map<std::uint32_t, std::vector<ByteRange>> by_file;
  for (const TensorInfo& tensor : catalog.tensors) {
    if (selector && !selector(tensor.name)) continue;
    for (const Extent& extent : tensor.extents) {
      if (extent.file != Extent::kNoFile && !extent.range.empty()) by_file[extent.file].push_back(extent.range);
    }
  }
  std::vector<FileRange> ranges;
  for (auto& [index, parts] : by_file) {
    const CatalogFile& file = catalog.files[index];
    SHARDWISE_ASSIGN_OR_RETURN(const auto opened, open_file(file.path));
    if (file.is_deflated()) parts = {file.member};
    std::sort(parts.begin(), parts.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
    const std::size_t first = ranges.size();
    for (const ByteRange part : parts) {
      if (ranges.size() > first && part.begin <= ranges.back().range.end) {
        ranges.back().range.end = std::max(ranges.back().range.end, part.end);
      } else {
        ranges.push_back({opened, part});
      }
    }
  }
  return ranges;
}

enum class Dimension : std::uint8_t { kFirst, kLast };

// The same bindings with one dimension of every tensor split over all devices, where it divides.
Result<Bindings> split_dimension(Bindings bindings, Dimension which) {
  for (Binding& binding : bindings.bindings) {
    const Shape& shape = binding.placement.shape;
    if (shape.empty()) continue;
    std::vector<Axis> axes(which == Dimension::kFirst ? 1 : shape.size());
    axes.back() = "model";
    SHARDWISE_ASSIGN_OR_RETURN(binding.placement, place(binding.name, shape, TensorLayout(std::move(axes)),
                                                        bindings.mesh, Uneven::kReplicate));
  }
  return bindings;
}

StageStatus make_plans(const BenchRequest& request, const Catalog& catalog,
                       const std::function<bool(const std::string&)>& selector, std::vector<NamedPlan>& plans) {
  const auto mesh = DeviceMesh::create({1, request.devices}, {"batch", "model"},
                                       host_devices(static_cast<std::size_t>(request.devices)));
  if (!mesh.ok()) return {Stage::kRequest, mesh.status()};
  const auto whole = bind(catalog, AutoParallel(*mesh), {.select = selector});
  if (!whole.ok()) return {Stage::kPlan, whole.status()};
  std::vector<std::pair<std::string, Result<Bindings>>> layouts = {
      {"row", split_dimension(*whole, Dimension::kFirst)},
      {"column", split_dimension(*whole, Dimension::kLast)},
      {"auto", *whole}};
  if (!request.layout.empty()) {
    const auto distribution = make_distribution(Request{.layout = request.layout}, *mesh);
    if (!distribution.ok()) return {Stage::kRequest, distribution.status()};
    layouts.emplace_back(request.layout, bind(catalog, *distribution, {.select = selector}));
  }
  for (const auto& [name, bindings] : layouts) {
    auto plan = make_plan(bindings, {.staging = request.staging});
    if (!plan.ok()) return {Stage::kPlan, plan.status()};
    plans.push_back({name, std::move(plan).value()});
  }
  return {};
}

std::optional<std::uint64_t> available_memory() {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return std::nullopt;
  unsigned long long kib = 0;
  std::optional<std::uint64_t> bytes;
  char line[256];
  while (!bytes && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %llu", &kib) == 1) bytes = kib * 1024;
  }
  std::fclose(file);
  return bytes;
}

// What a run holds at once: all bytes, and its staging.
std::uint64_t bytes_of_a_run(const Setup& setup) {
  std::uint64_t most = total_bytes(setup.ranges);
  for (const NamedPlan& named : setup.plans) {
    std::uint64_t sum = named.plan.host.peak_bytes;
    for (const DevicePlan& device : named.plan.devices) sum += device.peak_bytes;
    most = std::max(most, sum);
  }
  return most;
}

// The page cache holds all bytes besides.
Status check_memory(const Setup& setup) {
  const std::uint64_t most = bytes_of_a_run(setup);
  const auto available = available_memory();
  if (!available || most + total_bytes(setup.ranges) <= *available) return {};
  return resource_exhausted(
      "bench holds all bytes in memory beside the page cache: {} of {} available; choose fewer tensors with --select",
      format_bytes(most + total_bytes(setup.ranges)), format_bytes(*available));
}

// Brings the page cache into the state that the phase measures, and records how well that went.
Status prepare_cache(Phase which, const Setup& setup, BenchPhase& phase) {
  const auto before = resident(setup.ranges);
  if (which == Phase::kCold) {
    drop_from_cache(setup.ranges);
  } else if (!before || *before < kWarmShare) {
    SHARDWISE_RETURN_IF_ERROR(fill_cache(setup.ranges));
  }
  const auto now = resident(setup.ranges);
  if (!now) return {};
  if (!phase.resident) phase.resident = *now;
  phase.resident = which == Phase::kWarm ? std::min(*phase.resident, *now) : std::max(*phase.resident, *now);
  return {};
}

// Asks for the memory of a run and gives it back: a virtual machine's host takes back what was not used for a while,
// and the first touch after that costs up to ten times as much, for whoever comes next.
Status touch_memory(const Setup& setup) {
  SHARDWISE_ASSIGN_OR_RETURN(HugeBuffer memory, HugeBuffer::create(bytes_of_a_run(setup)));
  populate(memory.span());
  return {};
}

// One thing to measure: a row of the result, and what gives its seconds.
struct Candidate {
  BenchRow row;
  std::function<Result<double>(BenchRow& row)> run;
};

// Runs every candidate once per round, each with a prepared cache and memory, and keeps its best seconds. What the
// machine does from one minute to the next (a disk's cache, its other users) so meets all of them alike, and each has
// as many tries. Candidates that this system cannot run leave, with a note.
Status take_turns(Phase which, const Setup& setup, BenchPhase& phase, std::vector<Candidate>& candidates) {
  for (int round = 0; round < setup.request.repeat; ++round) {
    for (std::size_t c = 0; c < candidates.size();) {
      Candidate& candidate = candidates[c];
      SHARDWISE_RETURN_IF_ERROR(prepare_cache(which, setup, phase));
      SHARDWISE_RETURN_IF_ERROR(touch_memory(setup));
      const Result<double> seconds = candidate.run(candidate.row);
      if (!seconds.ok() && seconds.status().code() == Code::kUnimplemented) {
        const std::string note = format("not measured: {}", seconds.status().message());
        if (phase.notes.empty() || phase.notes.back() != note) phase.notes.push_back(note);
        candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(c));
        continue;
      }
      if (!seconds.ok()) return seconds.status();
      double& best = candidate.row.seconds;
      best = best == 0 ? *seconds : std::min(best, *seconds);
      ++c;
    }
  }
  return {};
}

// As many threads as load() may use.
unsigned thread_limit(const BenchRequest& request, Phase which) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return request.threads > 0 ? request.threads : which == Phase::kCold ? 2 * cores : cores;
}

// The fastest way of reading the bytes and doing nothing with them.
Result<Candidate> raw_limit(Phase which, const Setup& setup, BenchPhase& phase) {
  std::vector<Candidate> ways;
  const auto add = [&](RawMethod method, const char* name) {
    const unsigned most = thread_limit(setup.request, which);
    for (unsigned threads = 1;; threads = std::min(threads * 2, most)) {
      BenchRow row{.what = "raw", .how = format("{} thread{}, {}", threads, threads == 1 ? "" : "s", name)};
      ways.push_back(
          {row, [&setup, threads, method](BenchRow&) { return raw_read(setup.ranges, threads, method, setup.stop); }});
      if (threads == most) return;
    }
  };
  add(RawMethod::kBuffered, "buffered");
  if (which == Phase::kCold) add(RawMethod::kDirect, "direct");
  SHARDWISE_RETURN_IF_ERROR(take_turns(which, setup, phase, ways));
  Candidate best = *std::min_element(
      ways.begin(), ways.end(), [](const Candidate& a, const Candidate& b) { return a.row.seconds < b.row.seconds; });
  best.row.seconds = 0;  // measured once more, in turn with the loads
  return best;
}

Candidate load_of(const NamedPlan& named, const Setup& setup) {
  const auto run = [&named, &setup](BenchRow& row) -> Result<double> {
    const auto start = std::chrono::steady_clock::now();
    SHARDWISE_ASSIGN_OR_RETURN(const Loaded loaded, load(named.plan, {.stop = setup.stop,
                                                                      .threads = setup.request.threads,
                                                                      .fingerprints = !setup.request.no_fingerprint}));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    row.how = loaded.statistics.methods.empty() ? "" : std::string(to_string(loaded.statistics.methods.front()));
    return seconds;
  };
  return {{.what = "load " + named.layout}, run};
}

Status measure_phase(Phase which, const Setup& setup, const Console& console, BenchResult& result) {
  BenchPhase phase{.name = which == Phase::kWarm ? "warm" : "cold"};
  console.remark(format("{}: raw ...\n", phase.name));
  SHARDWISE_ASSIGN_OR_RETURN(Candidate raw, raw_limit(which, setup, phase));
  console.remark(format("{}: loads, each in turn with raw ...\n", phase.name));
  std::vector<Candidate> candidates = {std::move(raw)};
  for (const NamedPlan& named : setup.plans) candidates.push_back(load_of(named, setup));
  SHARDWISE_RETURN_IF_ERROR(take_turns(which, setup, phase, candidates));
  for (Candidate& candidate : candidates) phase.rows.push_back(std::move(candidate.row));
  if (!phase.resident) phase.notes.push_back("the system does not tell what is in the page cache");
  if (which == Phase::kCold && phase.resident && *phase.resident > kColdShare) {
    phase.notes.push_back("not cold: the system kept some of it in the page cache");
  }
  if (which == Phase::kWarm && phase.resident && *phase.resident < kWarmShare) {
    phase.notes.push_back("not warm: the page cache does not hold it all");
  }
  result.phases.push_back(std::move(phase));
  return {};
}

}  // namespace

StageStatus bench(const BenchRequest& request, std::stop_token stop, const Console& console, BenchResult& result) {
  const auto catalog = open_checkpoint(request.path);
  if (!catalog.ok()) return {Stage::kOpen, catalog.status()};
  const auto selector = make_selector(request.select, *catalog);
  if (!selector.ok()) return {Stage::kRequest, selector.status()};
  Setup setup{.request = request, .stop = std::move(stop)};
  auto ranges = stored_ranges(*catalog, *selector);
  if (!ranges.ok()) return {Stage::kOpen, ranges.status()};
  setup.ranges = std::move(ranges).value();
  if (const auto outcome = make_plans(request, *catalog, *selector, setup.plans); !outcome.ok()) return outcome;
  if (const Status fits = check_memory(setup); !fits.ok()) return {Stage::kFit, fits};

  result = {.path = request.path,
            .bytes = total_bytes(setup.ranges),
            .tensors = setup.plans.front().plan.tensors.size(),
            .devices = request.devices,
            .repeat = request.repeat};
  for (const Phase which : {Phase::kWarm, Phase::kCold}) {
    if (request.only == (which == Phase::kWarm ? "cold" : "warm")) continue;
    if (const Status status = measure_phase(which, setup, console, result); !status.ok()) return {Stage::kLoad, status};
  }
  return {};
}

}  // namespace shardwise::cli
