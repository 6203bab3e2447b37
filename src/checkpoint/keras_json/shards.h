// The shards of a Keras checkpoint put together: one catalog, with the names that a single .weights.h5 would have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/keras_json/weight_map.h"
#include "shardwise/catalog.h"
#include "shardwise/status.h"

namespace shardwise::keras {

// Collects shard after shard. Thread-compatible. Borrows the map, which must outlive it.
//
// A variable belongs to the map's group that is the longest prefix of its path, and counts when the map lists its file
// for that group. What does not count is left out, as Keras leaves it, and told in the warnings.
class ShardCollector {
 public:
  ShardCollector(std::string path, const WeightMap& map);

  // The shard map.files[number]; once for each, in order. Errors: DATA_LOSS for a variable that a former shard holds
  // too.
  Status add(std::uint32_t number, CatalogFile file, hdf5::Contents contents);

  // Errors: DATA_LOSS for a group without variables, and for a variable "2" that is nowhere while "3" is somewhere.
  Result<Catalog> finish() &&;

 private:
  struct Group {
    const std::vector<std::uint32_t>* files = nullptr;
    std::vector<std::uint32_t> holders;  // those of `files` that hold variables of it
    std::uint64_t numbered = 0;          // variables called "0", "1", ...
    std::uint64_t end_number = 0;        // highest number + 1
  };

  Group* owner(std::string_view tensor, std::string_view* key);
  Status count(const std::string& tensor, std::string_view key, std::uint32_t number, Group& group);
  Status check_group(const std::string& path, const Group& group) const;
  std::string list_files(const Group& group) const;
  void warn_about_files(const std::string& path, const Group& group);
  void warn_about_size();
  void warn(std::string text);

  const WeightMap& map_;
  Catalog catalog_;
  std::map<std::string_view, Group, std::less<>> groups_;
  std::unordered_map<std::string, std::uint32_t> seen_;  // tensor -> file
  std::uint64_t left_out_ = 0;
  std::string first_left_out_;
  std::uint64_t suppressed_ = 0;
};

}  // namespace shardwise::keras
