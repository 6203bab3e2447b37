// shardwise init: variables come to life in their shards, with the values that Keras would give them.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/format.h"
#include "cli/load_report.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/save.h"

namespace shardwise::cli {
namespace {

constexpr const char* kDescription =
    "Initialise the variables of a model or a spec straight into their shards, bit for bit as Keras on JAX\n"
    "Each shard is made alone, on the device that holds it: no device ever holds more, and the values are the same on\n"
    "every mesh. Prints the plan, then the first values and the fingerprint of each variable, and the memory it took.\n"
    "With --dry-run it stops at the plan. Refuses what does not fit before making anything (exit 3).";

constexpr const char* kExamples =
    R"help(  # Would Gemma 2 9B fit 8 devices of 8 GiB? Which tensor would not, loaded whole?
  shardwise init --model gemma2_9b --dry-run --mesh batch=1,model=8 --layout gemma --device-memory 8GiB
  # A spec of your own: {"variables": [{"name": "dense/kernel", "shape": [64, 32],
  #   "initializer": {"class_name": "GlorotUniform", "config": {"seed": 42}}}]}
  shardwise init spec.json --mesh batch=2,model=4 --layout auto --device-memory 300MiB --save out.safetensors
  # The values of a model after keras.utils.set_random_seed(1337), more than this machine holds at once
  shardwise init --model gemma_2b --seed 1337 --devices 8 --layout gemma --dtype bfloat16 --discard --json
)help";

struct InitRequest : Request {
  std::string spec;
  unsigned threads = 0;
  bool dry_run = false;
  bool no_fingerprint = false;
  std::string save;
};

StageStatus check_request(InitRequest& request) {
  if (request.spec.empty() == request.model.empty()) {
    return {Stage::kRequest,
            invalid_argument("give a SPEC or a --model NAME, and not both; see `shardwise init --help`")};
  }
  if (request.model.empty()) request.model = request.spec;
  if (request.dry_run && !request.save.empty()) {
    return {Stage::kRequest, invalid_argument("--dry-run makes nothing that --save could write")};
  }
  return {};
}

struct Results {
  FirstValues values;
  std::unique_ptr<Save> save;
  std::optional<Loaded> loaded;
};

StageStatus make_values(const InitRequest& request, const LoadPlan& plan, const Session& session,
                        const Console& console, Results& results) {
  if (!request.save.empty()) {
    auto save = Save::create(request.save, plan);
    if (!save.ok()) return {Stage::kOutput, save.status()};
    results.save = std::move(save).value();
  }
  {
    ProgressBar bar(console, "making");
    Status written;  // kept apart: the load reports it as its own
    const auto on_array = [&](const ShardedArray& array) {
      SHARDWISE_RETURN_IF_ERROR(results.values.add(array));
      if (results.save) written = results.save->add(array);
      return written;
    };
    auto loaded = load(plan, {.progress = bar.callback(),
                              .stop = session.stop,
                              .threads = request.threads,
                              .fingerprints = !request.no_fingerprint,
                              .on_array = on_array});
    if (!written.ok()) return {Stage::kOutput, written};
    if (!loaded.ok()) return {Stage::kLoad, loaded.status()};
    results.loaded = std::move(loaded).value();
  }
  if (results.save) {
    if (const Status written = results.save->finish(); !written.ok()) return {Stage::kOutput, written};
  }
  return {};
}

Json plan_json(const Console& console, const LoadPlan& plan) {
  return console.is_json() ? Json::parse(to_json(plan)) : Json::object();
}

ExitCode run_init(InitRequest& request, const Session& session) {
  const Console console(request.format);
  if (const auto outcome = check_request(request); !outcome.ok()) return console.fail(outcome);
  Prepared prepared;
  const DeviceKind kind = request.dry_run ? DeviceKind::kAbstract : DeviceKind::kHost;
  if (const auto outcome = prepare(request, kind, prepared); !outcome.ok()) return console.fail(outcome);
  if (const auto outcome = session.interrupted(); !outcome.ok()) return console.fail(outcome);
  const LoadPlan& plan = *prepared.plan;
  console.text(to_string(plan, {.max_tensors = request.limit}) + "\n");
  if (const Status fits = check_fits(plan); !fits.ok()) {
    return console.fail(Stage::kFit, fits, plan_json(console, plan));
  }
  if (request.dry_run) {
    console.document(plan_json(console, plan));
    return ExitCode::kOk;
  }

  console.flush();
  Results results;
  const auto outcome = make_values(request, plan, session, console, results);
  if (!outcome.ok()) return console.fail(outcome, plan_json(console, plan));
  LoadReport report{.plan = plan,
                    .loaded = *results.loaded,
                    .process_peak_bytes = session.host_memory.peak(),
                    .dump_folder = {},
                    .saved = request.save,
                    .values = &results.values,
                    .max_values = request.limit};
  console.is_json() ? console.document(load_json(report)) : console.text(load_text(report));
  return ExitCode::kOk;
}

}  // namespace

void add_init(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<InitRequest>();
  CLI::App& command = add_command(app, "init", kDescription, kExamples);
  command.add_option("SPEC", request->spec, "A JSON file of variables and their initializers (docs/init.md).");
  command
      .add_option("--model", request->model,
                  format("A built-in model instead: {}.", fmt::join(builtin_model_names(), ", ")))
      ->type_name("NAME")
      ->group("Variables");
  add_seed(command, request->seed);
  add_placement(command, *request, "Making");
  add_threads(command, request->threads, "Making");
  command.add_flag("--no-fingerprint", request->no_fingerprint, "Skip the checksum per variable.")->group("Making");
  command.add_flag("--dry-run", request->dry_run, "Print the plan and stop: nothing is made or allocated.")
      ->group("Making");
  command
      .add_option("--save", request->save,
                  "Write the variables to this safetensors file, from their shards as they complete.")
      ->type_name("FILE")
      ->group("Output");
  command.callback(
      [&chosen, request] { chosen = [request](Session& session) { return run_init(*request, session); }; });
}

}  // namespace shardwise::cli
