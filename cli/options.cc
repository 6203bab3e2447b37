#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "base/format.h"

namespace shardwise::cli {
namespace {

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kTextColumn = 32;
constexpr const char* kMeshGroup = "Devices";
constexpr const char* kLayoutGroup = "Layout";
constexpr const char* kModelGroup = "Variables";
constexpr const char* kOutputGroup = "Output";

// Lines of at most `width` bytes, broken at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (line.size() + 1 + word.size() <= width) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

// "  --mesh AXIS=N,...      text", the text wrapped into its column.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { label("Positionals", "Arguments"); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string head = "  " + option->get_name(is_positional, !is_positional);
    // CLI11 appends the names of checks to the type, behind a colon.
    const std::string type = option->get_type_name();
    if (!is_positional && option->get_type_size() != 0) head += " " + type.substr(0, type.find(':'));
    return columns(head, option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string description = command->get_description();
    return columns("  " + command->get_name(), description.substr(0, description.find('\n')), 12);
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "\nUsage: " + name;
    if (!app->get_subcommands({}).empty()) return usage + " COMMAND ...\n";
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) usage += " " + option->get_name(true, false);
    }
    return usage + " [OPTIONS]\n";
  }

 private:
  static std::string columns(std::string head, const std::string& text, std::size_t column = kTextColumn) {
    if (head.size() + 2 > column) {
      head += "\n" + std::string(column, ' ');
    } else {
      head.resize(column, ' ');
    }
    const auto lines = wrapped(text, kHelpWidth - column);
    return format("{}{}\n", head, fmt::join(lines, "\n" + std::string(column, ' ')));
  }
};

template <typename T>
void choice(CLI::App& command, const std::string& name, std::optional<T>& target,
            std::vector<std::pair<std::string, T>> values, const std::string& description) {
  std::vector<std::string> names;
  for (const auto& [text, value] : values) names.push_back(text);
  const auto set = [&target, values, names, name](const std::string& given) {
    for (const auto& [text, value] : values) {
      if (text == given) {
        target = value;
        return;
      }
    }
    throw CLI::ValidationError(name, format("'{}' is not one of: {}", given, fmt::join(names, ", ")));
  };
  command.add_option_function<std::string>(name, set, description)
      ->type_name(format("{}", fmt::join(names, "|")))
      ->group(kLayoutGroup);
}

}  // namespace

const char* const kExitCodes = R"help(Exit codes:
  0    done
  1    failed: tensors differ, a check failed, or output could not be written
  2    wrong usage: an option, a mesh or a layout that cannot work
  3    does not fit the memory of the devices (or of this machine)
  4    the checkpoint cannot be read: missing, damaged, unsupported, or changed meanwhile
  130  interrupted (Ctrl-C once: stop and free everything; twice: die at once)
)help";

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, description)->group("Commands");
  command->footer("Examples:\n" + examples + "\n" + kExitCodes);
  return *command;
}

void set_formatter(CLI::App& app) { app.formatter(std::make_shared<HelpFormatter>()); }

CLI::Option* add_size(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                      const std::string& description) {
  const auto set = [&bytes, name](const std::string& text) {
    const auto parsed = parse_bytes(text);
    if (!parsed.ok()) throw CLI::ValidationError(name, parsed.status().message());
    bytes = *parsed;
  };
  return command.add_option_function<std::string>(name, set, description)->type_name("SIZE");
}

CLI::Option* add_path(CLI::App& command, std::string& path) {
  return command
      .add_option(
          "PATH", path,
          "The checkpoint: a .safetensors file, a model.safetensors.index.json or a folder that holds one, a "
          "Keras .weights.h5, .weights.json or .keras, or an HDF5 file. What it is, is found by looking into it.")
      ->required();
}

void add_json(CLI::App& command, Format& format) {
  command
      .add_flag_callback(
          "--json", [&format] { format = Format::kJson; },
          "Print one JSON document on stdout instead of text, errors included.")
      ->group(kOutputGroup);
}

void add_select(CLI::App& command, std::string& expression, const std::string& group) {
  command
      .add_option("--select", expression,
                  "Only tensors in whose name this Python regular expression is found, e.g. 'attention|embeddings'.")
      ->type_name("REGEX")
      ->group(group);
}

void add_limit(CLI::App& command, std::size_t& limit, const std::string& description, const std::string& group) {
  const auto set = [&limit](const std::string& text) {
    const char* end = text.data() + text.size();
    if (text == "all") {
      limit = kAllTensors;
    } else if (const auto [rest, error] = std::from_chars(text.data(), end, limit);
               error != std::errc() || rest != end) {
      throw CLI::ValidationError("--limit", format("'{}' is neither a number nor 'all'", text));
    }
  };
  command.add_option_function<std::string>("--limit", set, description)->type_name("N|all")->group(group);
}

void add_staging(CLI::App& command, std::uint64_t& bytes, const std::string& group) {
  add_size(command, "--staging", bytes,
           "Host memory for bytes on their way from storage to the devices, at least 8MiB [64MiB].")
      ->group(group);
}

void add_threads(CLI::App& command, unsigned& threads, const std::string& group) {
  command.add_option("--threads", threads, "Threads that read, make and copy [one per core].")
      ->type_name("N")
      ->check(CLI::Range(0u, 1024u))
      ->group(group);
}

void add_mesh(CLI::App& command, Request& request) {
  command.add_option("--mesh", request.mesh, "Devices on a grid with named axes [batch=1,model=<--devices>].")
      ->type_name("AXIS=N,...")
      ->group(kMeshGroup);
  command.add_option("--devices", request.devices, "Number of simulated devices, when no mesh is given [1].")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group(kMeshGroup);
  add_size(command, "--device-memory", request.device_memory,
           "Hard limit of each device's memory, e.g. 96MiB, 1.5GiB, 2GB [unlimited].")
      ->group(kMeshGroup);
}

void add_model(CLI::App& command, Request& request) {
  command
      .add_option("--model", request.model,
                  format("Variables of a built-in model ({}) or of a JSON spec, by their Keras paths, instead of the "
                         "checkpoint's tensors: loaded from the tensor of that name, or of the name that Keras and "
                         "Hugging Face checkpoints of that model give it.",
                         fmt::join(builtin_model_names(), ", ")))
      ->type_name("NAME|FILE")
      ->group(kModelGroup);
  command
      .add_flag("--init-missing", request.init_missing,
                "Make what the checkpoint lacks of --model with its initializers, instead of failing.")
      ->group(kModelGroup);
  add_seed(command, request.seed);
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  command
      .add_option("--seed", seed,
                  "Initializers without a seed draw the seeds that Keras would draw after "
                  "keras.utils.set_random_seed(N) [0].")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{0xffffffff}))
      ->group(kModelGroup);
}

void add_placement(CLI::App& command, Request& request, const std::string& group) {
  add_mesh(command, request);
  command
      .add_option_function<std::vector<std::size_t>>(
          "--only-devices", [&request](const std::vector<std::size_t>& devices) { request.only_devices = devices; },
          "Fill these devices of the mesh only, by number, as one process of several does: 0,3.")
      ->delimiter(',')
      ->type_name("K,...")
      ->group(kMeshGroup);
  command
      .add_option(
          "--layout", request.layout,
          format("How tensors are split: {}, or a JSON file of rules [auto].", fmt::join(builtin_layout_names(), ", ")))
      ->type_name("NAME|FILE")
      ->group(kLayoutGroup);
  choice<MatchDialect>(command, "--dialect", request.dialect,
                       {{"fullmatch", MatchDialect::kFullMatch}, {"search", MatchDialect::kSearch}},
                       "How rules match names: the whole name (Keras 3.14 and later) or any part of it (before); "
                       "what a layout file says wins [fullmatch].");
  choice<Uneven>(command, "--uneven", request.uneven, {{"refuse", Uneven::kRefuse}, {"replicate", Uneven::kReplicate}},
                 "A dimension that its axis does not divide: an error, or left whole and reported; what a "
                 "layout file says wins [refuse].");
  command
      .add_option("--dtype", request.dtype,
                  "Cast floating tensors, or make them in: float64, float32, float16, bfloat16 [as stored, or said].")
      ->type_name("TYPE")
      ->group(group);
  add_select(command, request.select, group);
  add_staging(command, request.staging, group);
  command
      .add_flag_callback(
          "--discard", [&request] { request.retain = Retain::kDiscard; },
          "Drop each array once it is complete: for what is larger than the memory.")
      ->group(group);
  add_limit(command, request.limit, "Tensors listed, largest first; all = every one [20].", kOutputGroup);
  add_json(command, request.format);
}

}  // namespace shardwise::cli
