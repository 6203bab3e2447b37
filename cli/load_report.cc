#include "cli/load_report.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/format.h"
#include "cli/fingerprints.h"
#include "cli/table.h"

namespace shardwise::cli {
namespace {

constexpr std::size_t kMaxListed = 20;

std::string limit_text(std::uint64_t bytes) { return bytes == kUnlimited ? "unlimited" : format_bytes(bytes); }

// Per variable: of the tensor that its values come from.
std::vector<std::optional<Fingerprint>> fingerprints_by_variable(const LoadReport& report) {
  std::vector<std::optional<Fingerprint>> result(report.plan.variables.size());
  for (std::size_t t = 0; t < report.plan.tensors.size(); ++t) {
    for (const std::uint32_t v : report.plan.tensors[t].variables) result[v] = report.loaded.fingerprints[t];
  }
  return result;
}

// Of all tensors, under the names that they are stored or made under.
std::map<std::string, Fingerprint> fingerprints_by_name(const LoadReport& report) {
  std::map<std::string, Fingerprint> result;
  for (std::size_t t = 0; t < report.plan.tensors.size(); ++t) {
    const auto& value = report.loaded.fingerprints[t];
    if (value) result.emplace(report.plan.tensors[t].name, *value);
  }
  return result;
}

double bytes_per_second(const LoadStatistics& statistics) {
  const std::uint64_t bytes = statistics.bytes_read + statistics.bytes_generated;
  return statistics.seconds > 0 ? static_cast<double>(bytes) / statistics.seconds : 0;
}

// "buffered", or "buffered (2 files), direct (1 file)".
std::string methods_text(const LoadStatistics& statistics) {
  std::map<std::string, std::size_t> counts;
  for (const ReadMethod method : statistics.methods) ++counts[std::string(to_string(method))];
  if (counts.size() == 1) return counts.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(format("{} ({} files)", name, count));
  return format("{}", fmt::join(parts, ", "));
}

std::string memory_text(const LoadReport& report) {
  Table table({{"memory"},
               {"predicted", Align::kRight},
               {"measured", Align::kRight},
               {"allowed", Align::kRight},
               {"predicted, bytes", Align::kRight},
               {"measured, bytes", Align::kRight}});
  std::uint64_t devices = 0;
  for (std::size_t d = 0; d < report.plan.devices.size(); ++d) {
    const DevicePlan& device = report.plan.devices[d];
    if (!device.local) continue;
    devices += device.peak_bytes;
    const std::uint64_t measured = report.loaded.statistics.device_peak_bytes[d];
    table.add({device.info.id, format_bytes(device.peak_bytes), format_bytes(measured),
               limit_text(device.info.memory_limit), format("{}", device.peak_bytes), format("{}", measured)});
  }
  const std::uint64_t predicted = report.plan.host.peak_bytes;
  const auto add = [&](const char* name, std::uint64_t bytes, std::optional<std::uint64_t> measured) {
    table.add({name, format_bytes(bytes), measured ? format_bytes(*measured) : "unknown", "", format("{}", bytes),
               measured ? format("{}", *measured) : ""});
  };
  if (report.plan.options.retain == Retain::kKeep) {
    add("host, beside these", predicted, host_peak_bytes(report));
  } else {
    add("all of the process", predicted + devices, report.process_peak_bytes);
  }
  return table.to_string();
}

std::string timing_text(const LoadStatistics& statistics) {
  const std::string rate = format_bytes(static_cast<std::uint64_t>(bytes_per_second(statistics))) + "/s";
  const bool made = statistics.bytes_generated != 0;
  std::string text;
  if (statistics.bytes_read != 0 || !made) text = format("loaded {}", format_bytes(statistics.bytes_read));
  if (made) text += format("{} {}", text.empty() ? "made" : ", made", format_bytes(statistics.bytes_generated));
  text += format(" in {:.3f} s: {}", statistics.seconds, rate);
  if (statistics.bytes_read != 0 || !made) text += format(", {} reads, {}", statistics.reads, methods_text(statistics));
  text += format("\nseconds, summed over threads: read {:.3f}, decode {:.3f}, copy {:.3f}, fingerprint {:.3f}",
                 statistics.read_seconds, statistics.decode_seconds, statistics.copy_seconds,
                 statistics.fingerprint_seconds);
  if (made) text += format(", make {:.3f}", statistics.generate_seconds);
  return text + "\n";
}

// What the other way of loading would have needed, and whether device 0 could have given it.
std::string load_then_shard_text(const LoadPlan& plan) {
  const LoadThenShard& other = plan.load_then_shard;
  const std::uint64_t limit = plan.devices.front().info.memory_limit;
  std::string text = format("load-then-shard (each tensor whole on device 0 first) would need {} on device 0",
                            format_bytes(other.device0_peak_bytes));
  if (other.host_peak_bytes != 0) text += format(" and {} on the host", format_bytes(other.host_peak_bytes));
  if (limit == kUnlimited) return text + "\n";
  if (other.device0_peak_bytes > limit) return text + format(": refused, device 0 has {}\n", format_bytes(limit));
  return text + format(": it would fit the {} of device 0\n", format_bytes(limit));
}

// Name, fingerprint and first elements of the largest arrays.
std::string values_text(const LoadReport& report) {
  const auto& variables = report.plan.variables;
  const auto fingerprints = fingerprints_by_variable(report);
  std::vector<std::size_t> order(variables.size());
  for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return variables[a].shard_bytes * variables[a].placement.boxes.size() >
           variables[b].shard_bytes * variables[b].placement.boxes.size();
  });
  Table table({{"variable"}, {"fingerprint"}, {"first values"}});
  for (std::size_t i = 0; i < std::min(order.size(), report.max_values); ++i) {
    const PlannedVariable& variable = variables[order[i]];
    const std::vector<double>* values = report.values->find(variable.name);
    table.add({printable(variable.name), fingerprints[order[i]] ? to_string(*fingerprints[order[i]]) : "",
               values == nullptr ? "" : to_string(*values)});
  }
  return table.empty() ? "" : table.to_string() + "\n";
}

std::string list_text(const char* title, const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kMaxListed; ++i) text += format("{} {}\n", title, lines[i]);
  if (lines.size() > kMaxListed) text += format("{} ... and {} more\n", title, lines.size() - kMaxListed);
  return text;
}

std::string check_text(const ValueCheck::Report& check) {
  std::string text = list_text("wrong:", check.wrong) + list_text("not checked:", check.unchecked);
  text += format("check: every value of {} tensors is as stored", check.checked);
  if (!check.unchecked.empty()) text += format(", {} could not be checked", check.unchecked.size());
  if (!check.wrong.empty()) text += format(", {} WRONG", check.wrong.size());
  return text + "\n";
}

Json number_or_null(std::optional<std::uint64_t> number) { return number ? Json(*number) : Json(); }

Json measured_json(const LoadReport& report) {
  const LoadStatistics& statistics = report.loaded.statistics;
  Json methods = Json::array();
  for (const ReadMethod method : statistics.methods) methods.push_back(to_string(method));
  return {{"seconds", statistics.seconds},
          {"bytes_per_second", bytes_per_second(statistics)},
          {"device_peak_bytes", statistics.device_peak_bytes},
          {"host_peak_bytes", number_or_null(host_peak_bytes(report))},
          {"process_peak_bytes", number_or_null(report.process_peak_bytes)},
          {"bytes_read", statistics.bytes_read},
          {"bytes_wanted", statistics.bytes_wanted},
          {"bytes_generated", statistics.bytes_generated},
          {"bytes_copied", statistics.bytes_copied},
          {"reads", statistics.reads},
          {"staging_peak_bytes", statistics.staging_peak_bytes},
          {"read_seconds", statistics.read_seconds},
          {"decode_seconds", statistics.decode_seconds},
          {"copy_seconds", statistics.copy_seconds},
          {"fingerprint_seconds", statistics.fingerprint_seconds},
          {"generate_seconds", statistics.generate_seconds},
          {"methods", std::move(methods)}};
}

}  // namespace

std::optional<std::uint64_t> host_peak_bytes(const LoadReport& report) {
  if (!report.process_peak_bytes || report.plan.options.retain == Retain::kDiscard) return std::nullopt;
  const auto& peaks = report.loaded.statistics.device_peak_bytes;
  const std::uint64_t devices = std::accumulate(peaks.begin(), peaks.end(), std::uint64_t{0});
  return *report.process_peak_bytes - std::min(devices, *report.process_peak_bytes);
}

std::string load_text(const LoadReport& report) {
  std::string text = report.values == nullptr ? std::string() : values_text(report);
  text += memory_text(report) + "\n" + timing_text(report.loaded.statistics);
  const auto fingerprints = fingerprints_by_name(report);
  if (!fingerprints.empty()) {
    text += format("fingerprint of {} tensors: {}\n", fingerprints.size(), to_string(combine(fingerprints)));
  }
  if (!report.dump_folder.empty()) text += format("shards written to {}/device-*.safetensors\n", report.dump_folder);
  if (!report.saved.empty()) text += format("written to {}\n", report.saved);
  text += load_then_shard_text(report.plan);
  if (report.check) text += check_text(*report.check);
  return text;
}

Json load_json(const LoadReport& report) {
  auto document = Json::parse(to_json(report.plan));
  const auto fingerprints = fingerprints_by_name(report);
  const auto by_variable = fingerprints_by_variable(report);
  for (std::size_t v = 0; v < by_variable.size(); ++v) {
    Json& tensor = document["tensors"][v];
    tensor["fingerprint"] = by_variable[v] ? Json(to_string(*by_variable[v])) : Json();
    if (report.values == nullptr) continue;
    const std::vector<double>* values = report.values->find(report.plan.variables[v].name);
    if (values != nullptr) tensor["first_values"] = *values;
  }
  document["measured"] = measured_json(report);
  document["fingerprint"] = fingerprints.empty() ? Json() : Json(to_string(combine(fingerprints)));
  if (report.check) {
    document["check"] = {
        {"checked", report.check->checked}, {"unchecked", report.check->unchecked}, {"wrong", report.check->wrong}};
  }
  return document;
}

}  // namespace shardwise::cli
