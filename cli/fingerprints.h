// Fingerprints of stored tensors: what verify and inspect --fingerprint compare and print.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "cli/exit_code.h"
#include "shardwise/catalog.h"
#include "shardwise/fingerprint.h"
#include "shardwise/load.h"

namespace shardwise::cli {

struct FingerprintOptions {
  std::uint64_t staging = 64_MiB;
  unsigned threads = 0;
  std::function<bool(const std::string&)> select;  // null = all
  std::function<void(const Progress&)> progress;
  std::stop_token stop;
};

struct Fingerprints {
  std::map<std::string, Fingerprint> by_name;
  LoadStatistics statistics;
};

// Reads every chosen tensor once, in one device's memory, and drops each as it completes: memory is bounded by staging
// and by the tensors that are incomplete at one time.
StageStatus read_fingerprints(const Catalog& catalog, const FingerprintOptions& options, Fingerprints& result);

// One number for a set of named tensors: equal sets have equal numbers, whatever their order.
Fingerprint combine(const std::map<std::string, Fingerprint>& fingerprints);

}  // namespace shardwise::cli
