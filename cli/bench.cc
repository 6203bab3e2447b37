// shardwise bench: how close loads of the user's own file come to what this machine can read at all.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/format.h"
#include "cli/bench_run.h"
#include "cli/options.h"
#include "cli/table.h"

namespace shardwise::cli {
namespace {

constexpr const char* kDescription =
    "Measure loads of your own file against the raw read limit of this machine\n"
    "Raw: the best of 1, 2, 4 ... threads of large reads of the same bytes into fresh huge-page memory. Warm: all of "
    "it in\n"
    "the page cache. Cold: the cache dropped first, and checked to be; raw cold is the best of buffered and direct "
    "reads.\n"
    "The best way of raw reading is found first; then it and the loads take turns, round by round: a disk that is "
    "faster\n"
    "in one minute than in the next is so for all.\n"
    "Layouts: row splits the first dimension of every tensor over all devices, column the last, auto the largest.";

constexpr const char* kExamples = R"help(  shardwise bench model.safetensors
  # Your own mesh, 5 runs of each, the best counts
  shardwise bench model.keras --devices 4 --repeat 5
  # A part of a file that is larger than the memory
  shardwise bench model.safetensors.index.json --select 'layers\.[0-7]\.'
  shardwise bench model.weights.h5 --only warm --json
)help";

std::string rate_text(const BenchResult& result, const BenchRow& row) {
  return format_bytes(static_cast<std::uint64_t>(result.rate(row))) + "/s";
}

std::string bench_text(const BenchResult& result) {
  std::string text = format("{}: {} in {} tensors, {} devices, best of {}\n", printable(result.path),
                            format_bytes(result.bytes), result.tensors, result.devices, result.repeat);
  for (const BenchPhase& phase : result.phases) {
    text += format("\n{}", phase.name);
    if (phase.resident)
      text += format(": {:.1f}% of the bytes in the page cache before each run", *phase.resident * 100);
    text += "\n";
    Table table({{"what"}, {"seconds", Align::kRight}, {"rate", Align::kRight}, {"of raw", Align::kRight}, {"how"}});
    for (const BenchRow& row : phase.rows) {
      table.add({row.what, format("{:.3f}", row.seconds), rate_text(result, row), format("{:.2f}", phase.ratio(row)),
                 row.how});
    }
    text += table.to_string();
    for (const auto& note : phase.notes) text += format("  note: {}\n", note);
  }
  return text;
}

Json bench_json(const BenchResult& result) {
  Json document = {{"path", result.path},       {"bytes", result.bytes},   {"tensors", result.tensors},
                   {"devices", result.devices}, {"repeat", result.repeat}, {"phases", Json::array()}};
  for (const BenchPhase& phase : result.phases) {
    Json entry = {{"name", phase.name},
                  {"resident", phase.resident ? Json(*phase.resident) : Json()},
                  {"rows", Json::array()},
                  {"notes", phase.notes}};
    for (const BenchRow& row : phase.rows) {
      entry["rows"].push_back({{"what", row.what},
                               {"seconds", row.seconds},
                               {"bytes_per_second", result.rate(row)},
                               {"of_raw", phase.ratio(row)},
                               {"how", row.how}});
    }
    document["phases"].push_back(std::move(entry));
  }
  return document;
}

ExitCode run_bench(const BenchRequest& request, const Session& session) {
  const Console console(request.format);
  BenchResult result;
  if (const auto outcome = bench(request, session.stop, console, result); !outcome.ok()) return console.fail(outcome);
  console.text(bench_text(result));
  console.document(bench_json(result));
  return ExitCode::kOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<BenchRequest>();
  CLI::App& command = add_command(app, "bench", kDescription, kExamples);
  add_path(command, request->path);
  command.add_option("--devices", request->devices, "Number of simulated devices, in one row [8].")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 16))
      ->group("Devices");
  command.add_option("--repeat", request->repeat, "Runs of each, of which the best counts [3].")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->group("Measuring");
  command.add_option("--only", request->only, "Only one of the two phases: warm or cold [both].")
      ->type_name("warm|cold")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->group("Measuring");
  command.add_flag("--no-fingerprint", request->no_fingerprint, "Load without the checksum per tensor.")
      ->group("Measuring");
  command
      .add_option("--layout", request->layout,
                  "One more layout to measure, beside row, column and auto: a name or file as of 'plan', over a mesh "
                  "batch=1,model=N.")
      ->type_name("NAME|FILE")
      ->group("Measuring");
  add_threads(command, request->threads, "Reading");
  add_select(command, request->select, "Reading");
  add_staging(command, request->staging, "Reading");
  add_json(command, request->format);
  command.callback(
      [&chosen, request] { chosen = [request](Session& session) { return run_bench(*request, session); }; });
}

}  // namespace shardwise::cli
