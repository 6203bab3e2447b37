// shardwise plan: what a load would do and need, without doing it.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/options.h"
#include "cli/request.h"

namespace shardwise::cli {
namespace {

constexpr const char* kDescription =
    "Say what a load would read and need, without reading tensors or allocating\n"
    "Prints bytes and predicted peaks per device and for the host, the reads, how each tensor is split, rules that\n"
    "matched nothing and tensors that stay whole. A plan that does not fit is printed too, with what would fit (exit "
    "3).";

constexpr const char* kExamples = R"help(  # Does it fit on 8 devices of 2 GiB, split by Gemma's rules?
  shardwise plan model.weights.json --devices 8 --layout gemma --device-memory 2GiB
  # The same with rules of your own: {"rules": {"decoder.*kernel": [null, "model"]}}
  shardwise plan model.weights.h5 --mesh batch=2,model=4 --layout rules.json --uneven replicate
  # Every tensor, half the bytes: cast to bfloat16 on the way
  shardwise plan model.safetensors --devices 4 --dtype bfloat16 --limit all
  # A model that exists nowhere yet: would it fit once initialised?
  shardwise plan --model gemma2_9b --mesh batch=1,model=8 --layout gemma --device-memory 8GiB
  # For a script
  shardwise plan model.keras --devices 8 --json | jq '.devices[].peak_bytes'
)help";

ExitCode run_plan(const Request& request, const Session& session) {
  const Console console(request.format);
  Prepared prepared;
  if (const auto outcome = prepare(request, DeviceKind::kAbstract, prepared); !outcome.ok()) {
    return console.fail(outcome);
  }
  if (const auto outcome = session.interrupted(); !outcome.ok()) return console.fail(outcome);
  const Status fits = check_fits(*prepared.plan);
  console.text(to_string(*prepared.plan, {.max_tensors = request.limit}));
  if (fits.ok() && !console.is_json()) return ExitCode::kOk;

  auto document = console.is_json() ? Json::parse(to_json(*prepared.plan)) : Json::object();
  if (!fits.ok()) return console.fail(Stage::kFit, fits, std::move(document));
  console.document(document);
  return ExitCode::kOk;
}

}  // namespace

void add_plan(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<Request>();
  CLI::App& command = add_command(app, "plan", kDescription, kExamples);
  add_path(command, request->path)->required(false);
  add_model(command, *request);
  add_placement(command, *request, "Reading");
  command.callback(
      [&chosen, request] { chosen = [request](Session& session) { return run_plan(*request, session); }; });
}

}  // namespace shardwise::cli
