#include "cli/fingerprints.h"

#include <string_view>

#include "shardwise/device.h"
#include "shardwise/plan.h"

namespace shardwise::cli {
namespace {

// FNV-1a, continued from `hash`.
std::uint64_t hash_bytes(std::uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

StageStatus read_fingerprints(const Catalog& catalog, const FingerprintOptions& options, Fingerprints& result) {
  const DeviceMesh mesh({1}, {"device"}, host_devices(1));
  const auto plan = make_plan(bind(catalog, DataParallel(mesh), {.select = options.select}),
                              {.staging = options.staging, .retain = Retain::kDiscard});
  if (!plan.ok()) return {Stage::kPlan, plan.status()};
  const auto loaded = load(*plan, {.progress = options.progress, .stop = options.stop, .threads = options.threads});
  if (!loaded.ok()) return {Stage::kLoad, loaded.status()};
  for (std::size_t t = 0; t < plan->tensors.size(); ++t) {
    const auto& fingerprint = loaded->fingerprints[t];
    if (fingerprint) result.by_name.emplace(plan->tensors[t].name, *fingerprint);
  }
  result.statistics = loaded->statistics;
  return {};
}

Fingerprint combine(const std::map<std::string, Fingerprint>& fingerprints) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto& [name, fingerprint] : fingerprints) {
    hash = hash_bytes(hash, name);
    hash = hash_bytes(hash, std::string_view("\0", 1));
    hash = hash_bytes(hash, to_string(fingerprint));
  }
  return {hash};
}

}  // namespace shardwise::cli
