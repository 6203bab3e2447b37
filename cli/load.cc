// shardwise load: read the tensors into their shards, and tell what it took.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/format.h"
#include "cli/load_report.h"
#include "cli/options.h"
#include "cli/progress.h"

namespace shardwise::cli {
namespace {

constexpr const char* kDescription =
    "Read every tensor into its shards on simulated devices, within the predicted memory\n"
    "Prints the plan, then per device the predicted, measured and allowed bytes, the host's, the rate, and what "
    "loading\n"
    "whole tensors on device 0 would have needed. Refuses what does not fit before reading anything (exit 3).";

constexpr const char* kExamples = R"help(  # 8 devices of 24 MiB each, every value checked against the file
  shardwise load model.safetensors --devices 8 --device-memory 24MiB --check
  # A mesh, Gemma's rules, a small staging buffer
  shardwise load model.keras --mesh batch=2,model=4 --layout gemma --staging 8MiB
  # Each device's shards as device-K.safetensors, to look at with any program
  shardwise load model.weights.h5 --devices 2 --dump shards/
  # A backbone by its Keras paths, and the head that the file lacks made anew
  shardwise load model.safetensors --model spec.json --init-missing --seed 7 --devices 4
  # Larger than memory: drop each array once complete
  shardwise load huge.safetensors.index.json --devices 8 --discard --check --json
)help";

struct LoadRequest : Request {
  unsigned threads = 0;
  bool no_fingerprint = false;
  bool check = false;
  std::string dump;
};

// What happens to arrays as they complete.
struct Receivers {
  std::optional<ValueCheck> check;
  std::unique_ptr<Dump> dump;

  std::function<Status(const ShardedArray&)> callback() {
    if (!check && dump == nullptr) return nullptr;
    return [this](const ShardedArray& array) {
      if (check) SHARDWISE_RETURN_IF_ERROR(check->add(array));
      return dump ? dump->add(array) : Status();
    };
  }
};

// Checks against the limits and opens what arrays are written to.
StageStatus make_receivers(const LoadRequest& request, const LoadPlan& plan, Receivers& receivers) {
  if (const Status fits = check_fits(plan); !fits.ok()) return {Stage::kFit, fits};
  if (request.check) receivers.check.emplace();
  if (request.dump.empty()) return {};
  auto dump = Dump::create(request.dump, plan);
  if (!dump.ok()) return {Stage::kOutput, dump.status()};
  receivers.dump = std::move(dump).value();
  return {};
}

Json plan_json(const Console& console, const LoadPlan& plan) {
  return console.is_json() ? Json::parse(to_json(plan)) : Json::object();
}

StageStatus run_loader(const LoadRequest& request, const LoadPlan& plan, Receivers& receivers, const Session& session,
                       const Console& console, std::optional<Loaded>& loaded) {
  {
    ProgressBar bar(console, "loading");
    auto result = load(plan, {.progress = bar.callback(),
                              .stop = session.stop,
                              .threads = request.threads,
                              .fingerprints = !request.no_fingerprint,
                              .on_array = receivers.callback()});
    if (!result.ok()) return {Stage::kLoad, result.status()};
    loaded = std::move(result).value();
  }
  if (receivers.dump) {
    if (const Status written = receivers.dump->finish(); !written.ok()) return {Stage::kOutput, written};
  }
  return {};
}

ExitCode run_load(const LoadRequest& request, const Session& session) {
  const Console console(request.format);
  if (request.check && request.no_fingerprint) {
    return console.fail(Stage::kRequest, invalid_argument("--check compares fingerprints: drop --no-fingerprint"));
  }
  Prepared prepared;
  if (const auto outcome = prepare(request, DeviceKind::kHost, prepared); !outcome.ok()) return console.fail(outcome);
  if (const auto outcome = session.interrupted(); !outcome.ok()) return console.fail(outcome);
  prepared.catalog.reset();  // the plan holds all that is needed
  const LoadPlan& plan = *prepared.plan;
  console.text(to_string(plan, {.max_tensors = request.limit}) + "\n");

  Receivers receivers;
  std::optional<Loaded> loaded;
  auto outcome = make_receivers(request, plan, receivers);
  if (outcome.ok()) {
    console.flush();
    outcome = run_loader(request, plan, receivers, session, console, loaded);
  }
  if (!outcome.ok()) return console.fail(outcome, plan_json(console, plan));

  LoadReport report{
      .plan = plan, .loaded = *loaded, .process_peak_bytes = session.host_memory.peak(), .dump_folder = request.dump};
  if (receivers.check) report.check = receivers.check->compare(plan, *loaded);
  if (console.is_json()) {
    console.document(load_json(report));
  } else {
    console.text(load_text(report));
  }
  return report.check && !report.check->wrong.empty() ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

void add_load(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<LoadRequest>();
  CLI::App& command = add_command(app, "load", kDescription, kExamples);
  add_path(command, request->path);
  add_model(command, *request);
  add_placement(command, *request, "Reading");
  add_threads(command, request->threads, "Reading");
  command.add_flag("--no-fingerprint", request->no_fingerprint, "Skip the checksum per tensor.")->group("Reading");
  command
      .add_flag("--check", request->check,
                "Recompute each tensor's fingerprint from the shards on the devices and compare it with the one of the "
                "stored bytes: every value is checked. Tensors that --dtype casts cannot be, and are named.")
      ->group("Output");
  command
      .add_option("--dump", request->dump,
                  "Write each device's shards to DIR/device-K.safetensors, with the shape of the whole tensor and the "
                  "box held in the header's __metadata__.")
      ->type_name("DIR")
      ->group("Output");
  command.callback(
      [&chosen, request] { chosen = [request](Session& session) { return run_load(*request, session); }; });
}

}  // namespace shardwise::cli
