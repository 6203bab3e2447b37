// What `shardwise load` says when it is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/dump.h"
#include "cli/first_values.h"
#include "cli/json.h"
#include "cli/value_check.h"
#include "shardwise/load.h"
#include "shardwise/plan.h"

namespace shardwise::cli {

// Borrows what it reports on.
struct LoadReport {
  const LoadPlan& plan;
  const Loaded& loaded;
  std::optional<std::uint64_t> process_peak_bytes;  // measured, with the devices' arenas
  std::string dump_folder;                          // empty = none
  std::string saved;                                // file that was written; empty = none
  const FirstValues* values = nullptr;              // null = not to be shown
  std::size_t max_values = 20;                      // arrays whose values are listed, largest first
  std::optional<ValueCheck::Report> check;
};

// Measured memory that is in no device's arena: the process's, less the peaks of the devices. nullopt when arrays were
// discarded: the arenas then have their peaks at different times, and nobody knows what they held at the process's.
std::optional<std::uint64_t> host_peak_bytes(const LoadReport& report);

std::string load_text(const LoadReport& report);
// The plan's document with "measured", "fingerprint", tensors[].fingerprint and, where there are some, "check" and
// tensors[].first_values.
Json load_json(const LoadReport& report);

}  // namespace shardwise::cli
