// shardwise verify: do two checkpoints hold the same tensors?
#include <CLI/CLI.hpp>
#include <memory>

#include "base/format.h"
#include "cli/fingerprints.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "shardwise/checkpoint.h"

namespace shardwise::cli {
namespace {

constexpr const char* kDescription =
    "Compare the tensors of two checkpoints, of any formats, value for value\n"
    "Tensors are compared by name, dtype, shape and a fingerprint of every value, bit for bit (0.0 differs from "
    "-0.0).\n"
    "Missing: in A only. Extra: in B only. Exit 0 when all are equal and none is missing or extra, else 1.";

constexpr const char* kExamples = R"help(  shardwise verify model.weights.h5 model.keras
  # Only some of them
  shardwise verify old.safetensors new.safetensors --select 'encoder\.layer\.[0-3]\.'
  # Names that differ, for a script
  shardwise verify a.weights.h5 b.safetensors --json | jq -r '.different[]'
)help";

struct VerifyOptions {
  std::string a;
  std::string b;
  std::string select;
  std::uint64_t staging = 64_MiB;
  unsigned threads = 0;
  Format format = Format::kText;
};

struct Difference {
  std::string name;
  std::string reason;
};

struct Comparison {
  std::vector<std::string> equal;
  std::vector<Difference> different;
  std::vector<std::string> missing;
  std::vector<std::string> extra;

  bool same() const { return different.empty() && missing.empty() && extra.empty(); }
};

using TensorsByName = std::map<std::string, const TensorInfo*>;

TensorsByName selected(const Catalog& catalog, const std::function<bool(const std::string&)>& selector) {
  TensorsByName tensors;
  for (const TensorInfo& tensor : catalog.tensors) {
    if (!selector || selector(tensor.name)) tensors.emplace(tensor.name, &tensor);
  }
  return tensors;
}

std::string kind_difference(const TensorInfo& a, const TensorInfo& b) {
  std::string reason;
  if (a.dtype != b.dtype) reason = format("dtype {} and {}", to_string(a.dtype), to_string(b.dtype));
  if (a.shape != b.shape) {
    reason += format("{}shape {} and {}", reason.empty() ? "" : ", ", to_string(a.shape), to_string(b.shape));
  }
  return reason;
}

// Sorts names into missing, extra, and those that differ without a look at their values; returns the rest.
std::set<std::string> compare_headers(const TensorsByName& a, const TensorsByName& b, Comparison& result) {
  std::set<std::string> comparable;
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      result.missing.push_back(name);
    } else if (const auto reason = kind_difference(*tensor, *other->second); !reason.empty()) {
      result.different.push_back({name, reason});
    } else {
      comparable.insert(name);
    }
  }
  for (const auto& [name, tensor] : b) {
    if (!a.contains(name)) result.extra.push_back(name);
  }
  return comparable;
}

void compare_values(const std::set<std::string>& names, const Fingerprints& a, const Fingerprints& b,
                    Comparison& result) {
  for (const auto& name : names) {
    const auto in_a = a.by_name.find(name);
    const auto in_b = b.by_name.find(name);
    if (in_a == a.by_name.end() || in_b == b.by_name.end()) {
      result.different.push_back({name, "values could not be compared: no fingerprint"});
    } else if (in_a->second == in_b->second) {
      result.equal.push_back(name);
    } else {
      result.different.push_back(
          {name, format("values, fingerprints {} and {}", to_string(in_a->second), to_string(in_b->second))});
    }
  }
}

std::string comparison_text(const VerifyOptions& options, const Comparison& result) {
  std::string text;
  for (const auto& [name, reason] : result.different) text += format("different  {}: {}\n", printable(name), reason);
  for (const auto& name : result.missing) text += format("missing    {} (in {} only)\n", printable(name), options.a);
  for (const auto& name : result.extra) text += format("extra      {} (in {} only)\n", printable(name), options.b);
  text += format("{} equal, {} different, {} missing, {} extra\n", result.equal.size(), result.different.size(),
                 result.missing.size(), result.extra.size());
  if (result.equal.empty() && result.different.empty() && !result.same()) {
    text += "No name is in both. Tensors are compared by name: see `shardwise inspect` for those of each.\n";
  }
  return text;
}

Json comparison_json(const VerifyOptions& options, const Comparison& result) {
  Json document = {{"a", options.a}, {"b", options.b}, {"same", result.same()}, {"equal", result.equal}};
  document["different"] = Json::array();
  for (const auto& [name, reason] : result.different) document["different"].push_back(name);
  document["missing"] = result.missing;
  document["extra"] = result.extra;
  document["reasons"] = Json::object();
  for (const auto& [name, reason] : result.different) document["reasons"][name] = reason;
  return document;
}

// The tensors of one side, as far as --select chooses them. A selection that is empty on one side only is a finding.
StageStatus choose(const VerifyOptions& options, const Catalog& a, const Catalog& b, TensorsByName& in_a,
                   TensorsByName& in_b) {
  const auto select_a = make_selector(options.select, a);
  const auto select_b = make_selector(options.select, b);
  if (!select_a.ok() && !select_b.ok()) return {Stage::kRequest, select_a.status()};
  if (select_a.ok()) in_a = selected(a, *select_a);
  if (select_b.ok()) in_b = selected(b, *select_b);
  return {};
}

StageStatus fingerprint_side(const Catalog& catalog, const std::set<std::string>& names, const VerifyOptions& options,
                             const Session& session, const Console& console, Fingerprints& result) {
  ProgressBar bar(console, catalog.path == options.a ? "reading A" : "reading B");
  return read_fingerprints(catalog,
                           {.staging = options.staging,
                            .threads = options.threads,
                            .select = [&names](const std::string& name) { return names.contains(name); },
                            .progress = bar.callback(),
                            .stop = session.stop},
                           result);
}

ExitCode run_verify(const VerifyOptions& options, const Session& session) {
  const Console console(options.format);
  const auto a = open_checkpoint(options.a);
  if (!a.ok()) return console.fail(Stage::kOpen, a.status());
  const auto b = open_checkpoint(options.b);
  if (!b.ok()) return console.fail(Stage::kOpen, b.status());

  TensorsByName in_a;
  TensorsByName in_b;
  if (const auto outcome = choose(options, *a, *b, in_a, in_b); !outcome.ok()) return console.fail(outcome);
  Comparison result;
  const auto names = compare_headers(in_a, in_b, result);
  Fingerprints values_a;
  Fingerprints values_b;
  if (!names.empty()) {
    auto outcome = fingerprint_side(*a, names, options, session, console, values_a);
    if (outcome.ok()) outcome = fingerprint_side(*b, names, options, session, console, values_b);
    if (!outcome.ok()) return console.fail(outcome);
  }
  compare_values(names, values_a, values_b, result);
  if (console.is_json()) {
    console.document(comparison_json(options, result));
  } else {
    console.text(comparison_text(options, result));
  }
  return result.same() ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

void add_verify(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App& command = add_command(app, "verify", kDescription, kExamples);
  command.add_option("A", options->a, "A checkpoint of any format.")->required();
  command.add_option("B", options->b, "Another one.")->required();
  add_select(command, options->select, "Tensors");
  add_staging(command, options->staging, "Reading");
  add_threads(command, options->threads, "Reading");
  add_json(command, options->format);
  command.callback(
      [&chosen, options] { chosen = [options](Session& session) { return run_verify(*options, session); }; });
}

}  // namespace shardwise::cli
