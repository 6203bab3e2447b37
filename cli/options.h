// Options that several commands share, and how help looks.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command.h"
#include "cli/request.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shardwise::cli {

// Adds a command. `examples` and the exit codes stand below its options.
CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& examples);

CLI::Option* add_path(CLI::App& command, std::string& path);
void add_json(CLI::App& command, Format& format);
void add_select(CLI::App& command, std::string& expression, const std::string& group);
// --limit N|all.
void add_limit(CLI::App& command, std::size_t& limit, const std::string& description, const std::string& group);
void add_staging(CLI::App& command, std::uint64_t& bytes, const std::string& group);
void add_threads(CLI::App& command, unsigned& threads, const std::string& group);
// --mesh, --devices, --device-memory.
void add_mesh(CLI::App& command, Request& request);
// --model and --init-missing, for commands that have a checkpoint; and --seed.
void add_model(CLI::App& command, Request& request);
void add_seed(CLI::App& command, std::uint64_t& seed);
// Where tensors go and in which dtype: all of what plan, load and init share. `group` is that of the loading options.
void add_placement(CLI::App& command, Request& request, const std::string& group);

// An option whose value is a size with a unit.
CLI::Option* add_size(CLI::App& command, const std::string& name, std::uint64_t& bytes, const std::string& description);

// Help of the whole program: formatting, and the text on exit codes.
void set_formatter(CLI::App& app);
extern const char* const kExitCodes;

}  // namespace shardwise::cli
