// The shardwise command.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/options.h"

namespace {

using namespace shardwise;
using namespace shardwise::cli;

constexpr const char* kDescription =
    "shardwise: large-model weights straight into their shards over a device mesh\n"
    "Reads only the bytes of each shard, into that shard, under a memory bound that is known beforehand and enforced.\n"
    "Devices are simulated here: parts of this process's memory, each with a hard limit.";

constexpr const char* kExamples = R"help(Examples:
  shardwise inspect model.safetensors
  shardwise plan model.weights.json --mesh batch=1,model=8 --layout gemma.json --device-memory 2GiB
  shardwise load model.keras --mesh batch=2,model=4 --layout auto --device-memory 96MiB --staging 32MiB
  shardwise init --model gemma2_9b --dry-run --mesh batch=1,model=8 --layout gemma --device-memory 8GiB
  shardwise verify a.weights.h5 b.safetensors

`shardwise COMMAND --help` explains a command, with examples. Sizes have units: 512KiB, 96MiB, 1.5GiB, 2GB.

)help";

bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

void build(CLI::App& app, Action& chosen) {
  set_formatter(app);
  app.set_help_flag("-h,--help", "Explain, and exit.");
  app.set_version_flag("--version", "shardwise " SHARDWISE_VERSION, "Print the version, and exit.");
  app.require_subcommand(1);
  app.footer(std::string(kExamples) + kExitCodes);
  add_inspect(app, chosen);
  add_plan(app, chosen);
  add_load(app, chosen);
  add_init(app, chosen);
  add_verify(app, chosen);
  add_bench(app, chosen);
}

// Which command's help an error should point to.
std::string help_hint(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return "see `shardwise " + (commands.empty() ? "" : commands.front()->get_name() + " ") + "--help`";
}

ExitCode run(int argc, char** argv, Session& session, const Console& console) {
  CLI::App app(kDescription, "shardwise");
  Action chosen;
  build(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    return console.fail(Stage::kRequest, invalid_argument(std::string(error.what()) + "; " + help_hint(app)));
  }
  return chosen(session);
}

}  // namespace

int main(int argc, char** argv) {
  const HostMemory memory = HostMemory::start();
  const Console console(asks_for_json(argc, argv) ? Format::kJson : Format::kText);
  ExitCode code = ExitCode::kFailed;
  try {
    Interrupt interrupt;
    Session session{interrupt.token(), memory};
    code = run(argc, argv, session, console);
  } catch (const std::bad_alloc&) {
    code = console.fail(Stage::kFit, resource_exhausted("this machine has not enough memory for that"));
  } catch (const std::exception& error) {
    code = console.fail(Stage::kOutput, internal_error(error.what()));
  }
  if (const Status written = flush_output(); !written.ok()) {
    std::fprintf(stderr, "error: %s\n", written.message().c_str());
    if (code == ExitCode::kOk) code = ExitCode::kFailed;
  }
  return static_cast<int>(code);
}
