// The measurements of `shardwise bench`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/console.h"
#include "shardwise/bytes.h"

namespace shardwise::cli {

struct BenchRequest {
  std::string path;
  int devices = 8;
  int repeat = 3;
  std::string only;  // "warm", "cold", or empty = both
  bool no_fingerprint = false;
  std::string layout;  // one more layout to measure: a built-in name or a JSON file; empty = none
  std::string select;
  std::uint64_t staging = 64_MiB;
  unsigned threads = 0;
  Format format = Format::kText;
};

struct BenchRow {
  std::string what;  // "raw", "load row", ...
  double seconds = 0;
  std::string how;  // "2 threads, buffered"
};

// Rows measured with the same state of the page cache; the first is the raw limit.
struct BenchPhase {
  std::string name;
  std::optional<double> resident;  // worst share in the page cache before a run: least when warm, most when cold
  std::vector<BenchRow> rows;
  std::vector<std::string> notes;

  double ratio(const BenchRow& row) const { return row.seconds > 0 ? rows.front().seconds / row.seconds : 0; }
};

struct BenchResult {
  std::string path;
  std::uint64_t bytes = 0;  // stored, of the selected tensors
  std::size_t tensors = 0;
  int devices = 0;
  int repeat = 0;
  std::vector<BenchPhase> phases;

  double rate(const BenchRow& row) const { return static_cast<double>(bytes) / std::max(row.seconds, 1e-9); }
};

StageStatus bench(const BenchRequest& request, std::stop_token stop, const Console& console, BenchResult& result);

}  // namespace shardwise::cli
