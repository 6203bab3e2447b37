// ValueCheck: recomputes the fingerprint of every loaded array from its shards.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shardwise/load.h"
#include "shardwise/plan.h"
#include "shardwise/sharded_array.h"

namespace shardwise::cli {

// Give it each array as it completes; compare at the end with the fingerprints of the stored tensors, which the load
// computed from the bytes of the files. Replicas are compared byte for byte. Thread-compatible.
class ValueCheck {
 public:
  Status add(const ShardedArray& array);

  struct Report {
    std::size_t checked = 0;             // arrays whose every value is as stored
    std::vector<std::string> unchecked;  // "name: why", e.g. cast on the way
    std::vector<std::string> wrong;      // "name: what differs"
  };
  Report compare(const LoadPlan& plan, const Loaded& loaded) const;

 private:
  std::map<std::string, Fingerprint> fingerprints_;
  std::vector<std::string> unequal_replicas_;
};

}  // namespace shardwise::cli
