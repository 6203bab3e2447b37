// FirstValues: the first elements of each array, to be looked at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shardwise/sharded_array.h"
#include "shardwise/status.h"

namespace shardwise::cli {

// Keeps the first elements of every floating array in row-major order, as many as stand in one row of its first shard,
// at most four. Thread-compatible.
class FirstValues {
 public:
  Status add(const ShardedArray& array);
  // Null when there are none of that array.
  const std::vector<double>* find(const std::string& name) const;

 private:
  std::map<std::string, std::vector<double>> values_;
};

// "0.0943 -0.0385 -0.167 0.3": as many significant digits as tell them apart at a glance.
std::string to_string(const std::vector<double>& values);

}  // namespace shardwise::cli
