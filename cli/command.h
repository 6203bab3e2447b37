// The commands: each registers its options and leaves what is to be run in `chosen`.
#pragma once

#include <functional>
#include <stop_token>

#include "cli/exit_code.h"
#include "cli/host_memory.h"

namespace CLI {
class App;
}

namespace shardwise::cli {

// What a command may use of the process.
struct Session {
  std::stop_token stop;    // requested by Ctrl-C
  HostMemory host_memory;  // measured from the start of the process

  // CANCELLED once Ctrl-C was pressed: to be asked between steps that do not ask themselves.
  StageStatus interrupted() const {
    return {Stage::kLoad, stop.stop_requested() ? cancelled("stopped before anything was read") : Status()};
  }
};

using Action = std::function<ExitCode(Session&)>;

void add_inspect(CLI::App& app, Action& chosen);
void add_plan(CLI::App& app, Action& chosen);
void add_load(CLI::App& app, Action& chosen);
void add_init(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);

}  // namespace shardwise::cli
