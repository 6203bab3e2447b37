// shardwise inspect: what a checkpoint holds.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/format.h"
#include "cli/encoding_name.h"
#include "cli/fingerprints.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "shardwise/checkpoint.h"

namespace shardwise::cli {
namespace {

constexpr const char* kDescription =
    "Show what a checkpoint holds: format, files, tensors, metadata\n"
    "Reads headers only, unless --fingerprint asks for the values.";

constexpr const char* kExamples = R"help(  shardwise inspect model.safetensors
  # A sharded checkpoint: its index, or the folder that holds it
  shardwise inspect gemma/model.safetensors.index.json --limit 10
  # One layer, with fingerprints that do not depend on layout, device count or file format
  shardwise inspect model.keras --select 'layers/dense/' --fingerprint
  # Names and shapes for a script
  shardwise inspect model.weights.h5 --json | jq -r '.tensors[] | "\(.name) \(.shape)"'
)help";

constexpr std::size_t kMaxExtentsInJson = 64;

struct InspectOptions {
  std::string path;
  std::string select;
  std::size_t limit = kAllTensors;
  bool fingerprint = false;
  std::uint64_t staging = 64_MiB;
  unsigned threads = 0;
  Format format = Format::kText;
};

// What is shown: the chosen tensors in file order, cut to the limit.
struct Selection {
  std::vector<const TensorInfo*> tensors;
  std::size_t shown = 0;
};

std::string location(const Catalog& catalog, const TensorInfo& tensor) {
  if (tensor.extents.empty()) return "no bytes";
  const Extent& first = tensor.extents.front();
  if (tensor.extents.size() == 1 && first.file == Extent::kNoFile) return "fill value, never written";
  std::string where = first.file == Extent::kNoFile ? std::string("fill value") : format("file {}", first.file);
  if (tensor.extents.size() == 1) return format("{} {}", where, to_string(first.range));
  const std::string codec = first.encoding == Extent::kRaw ? "" : ", " + encoding_name(catalog, first.encoding);
  return format("{} {} chunks{}", where, tensor.extents.size(), codec);
}

std::string files_text(const Catalog& catalog) {
  Table table({{"file"}, {"bytes", Align::kRight}, {"size", Align::kRight}, {"path"}});
  for (std::size_t f = 0; f < catalog.files.size(); ++f) {
    const CatalogFile& file = catalog.files[f];
    const std::string note =
        file.is_deflated() ? format(" (deflated member at {})", to_string(file.member)) : std::string();
    table.add({format("{}", f), format("{}", file.size), format_bytes(file.size), printable(file.path) + note});
  }
  return "\n" + table.to_string();
}

std::string dtypes_text(const Selection& selection) {
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> by_dtype;
  for (const TensorInfo* tensor : selection.tensors) {
    auto& [count, bytes] = by_dtype[std::string(to_string(tensor->dtype))];
    ++count;
    bytes += tensor->bytes();
  }
  Table table({{"dtype"}, {"tensors", Align::kRight}, {"bytes", Align::kRight}, {"size", Align::kRight}});
  for (const auto& [name, total] : by_dtype) {
    table.add({name, format("{}", total.first), format("{}", total.second), format_bytes(total.second)});
  }
  return table.empty() ? std::string() : "\n" + table.to_string();
}

std::string tensors_text(const Catalog& catalog, const Selection& selection, const Fingerprints* fingerprints) {
  std::vector<Table::Column> columns = {{"tensor"}, {"dtype"}, {"shape"}, {"bytes", Align::kRight}, {"location"}};
  if (fingerprints != nullptr) columns.push_back({"fingerprint"});
  Table table(columns);
  for (std::size_t t = 0; t < selection.shown; ++t) {
    const TensorInfo& tensor = *selection.tensors[t];
    std::vector<std::string> row = {printable(tensor.name), std::string(to_string(tensor.dtype)),
                                    to_string(tensor.shape), format("{}", tensor.bytes()), location(catalog, tensor)};
    if (fingerprints != nullptr) {
      const auto found = fingerprints->by_name.find(tensor.name);
      row.push_back(found == fingerprints->by_name.end() ? "" : to_string(found->second));
    }
    table.add(std::move(row));
  }
  std::string text = table.empty() ? std::string() : "\n" + table.to_string();
  if (selection.shown < selection.tensors.size()) {
    text += format("  ... and {} more (--limit all shows them)\n", selection.tensors.size() - selection.shown);
  }
  return text;
}

std::string catalog_text(const Catalog& catalog, const Selection& selection, const Fingerprints* fingerprints) {
  std::string text = format("{}: {}, {} tensors, {}\n", printable(catalog.path), catalog.format, catalog.tensors.size(),
                            format_bytes(catalog.total_bytes()));
  if (selection.tensors.size() < catalog.tensors.size()) {
    text += format("{} of them selected\n", selection.tensors.size());
  }
  text += files_text(catalog) + dtypes_text(selection) + tensors_text(catalog, selection, fingerprints);
  if (!catalog.metadata.empty()) text += "\n  metadata\n";
  for (const auto& [key, value] : catalog.metadata) text += format("  {} = {}\n", printable(key), printable(value));
  if (fingerprints != nullptr) text += format("\nfingerprint of all {}\n", to_string(combine(fingerprints->by_name)));
  if (!catalog.warnings.empty()) text += "\n";
  for (const auto& warning : catalog.warnings) text += format("warning: {}\n", printable(warning));
  return text;
}

Json tensor_json(const Catalog& catalog, const TensorInfo& tensor, const Fingerprints* fingerprints) {
  Json entry = {{"name", tensor.name},
                {"dtype", to_string(tensor.dtype)},
                {"shape", tensor.shape},
                {"bytes", tensor.bytes()},
                {"extent_count", tensor.extents.size()},
                {"extents", extents_json(catalog, tensor, kMaxExtentsInJson)}};
  if (fingerprints != nullptr) {
    const auto found = fingerprints->by_name.find(tensor.name);
    if (found != fingerprints->by_name.end()) entry["fingerprint"] = to_string(found->second);
  }
  return entry;
}

Json catalog_json(const Catalog& catalog, const Selection& selection, const Fingerprints* fingerprints) {
  Json document = {{"format", catalog.format}, {"path", catalog.path}, {"files", Json::array()}};
  for (const CatalogFile& file : catalog.files) {
    document["files"].push_back({{"path", file.path}, {"bytes", file.size}, {"deflated", file.is_deflated()}});
  }
  document["tensor_count"] = catalog.tensors.size();
  document["bytes"] = catalog.total_bytes();
  document["tensors"] = Json::array();
  for (std::size_t t = 0; t < selection.shown; ++t) {
    document["tensors"].push_back(tensor_json(catalog, *selection.tensors[t], fingerprints));
  }
  document["metadata"] = Json::object();
  for (const auto& [key, value] : catalog.metadata) document["metadata"][key] = value;
  document["warnings"] = catalog.warnings;
  if (fingerprints != nullptr) document["fingerprint"] = to_string(combine(fingerprints->by_name));
  return document;
}

ExitCode run_inspect(const InspectOptions& options, const Session& session) {
  const Console console(options.format);
  const auto catalog = open_checkpoint(options.path);
  if (!catalog.ok()) return console.fail(Stage::kOpen, catalog.status());
  if (const auto outcome = session.interrupted(); !outcome.ok()) return console.fail(outcome);
  const auto selector = make_selector(options.select, *catalog);
  if (!selector.ok()) return console.fail(Stage::kRequest, selector.status());

  Selection selection;
  for (const TensorInfo& tensor : catalog->tensors) {
    if (!*selector || (*selector)(tensor.name)) selection.tensors.push_back(&tensor);
  }
  selection.shown = std::min(selection.tensors.size(), options.limit);

  std::optional<Fingerprints> fingerprints;
  if (options.fingerprint) {
    ProgressBar bar(console, "reading");
    fingerprints.emplace();
    const auto outcome = read_fingerprints(*catalog,
                                           {.staging = options.staging,
                                            .threads = options.threads,
                                            .select = *selector,
                                            .progress = bar.callback(),
                                            .stop = session.stop},
                                           *fingerprints);
    if (!outcome.ok()) return console.fail(outcome);
  }
  const Fingerprints* shown = fingerprints ? &*fingerprints : nullptr;
  if (console.is_json()) {
    console.document(catalog_json(*catalog, selection, shown));
  } else {
    console.text(catalog_text(*catalog, selection, shown));
  }
  return ExitCode::kOk;
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App& command = add_command(app, "inspect", kDescription, kExamples);
  add_path(command, options->path);
  add_select(command, options->select, "Tensors");
  add_limit(command, options->limit, "Tensors listed, in file order [all].", "Tensors");
  command
      .add_flag("--fingerprint", options->fingerprint,
                "Read every value and show a checksum per tensor and of all of them.")
      ->group("Reading");
  add_staging(command, options->staging, "Reading");
  add_threads(command, options->threads, "Reading");
  add_json(command, options->format);
  command.callback(
      [&chosen, options] { chosen = [options](Session& session) { return run_inspect(*options, session); }; });
}

}  // namespace shardwise::cli
