// Save: the arrays of a load or an initialisation as one safetensors file.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "shardwise/plan.h"
#include "shardwise/safetensors_writer.h"
#include "shardwise/sharded_array.h"
#include "shardwise/status.h"

namespace shardwise::cli {

// Writes every array from its shards as it comes, in any order, so it works with discarded arrays too. The file appears
// under its name when finish() succeeds. Thread-compatible.
class Save {
 public:
  // Errors: those of SafetensorsWriter::create(); INVALID_ARGUMENT when not every device is filled here.
  static Result<std::unique_ptr<Save>> create(const std::string& path, const LoadPlan& plan);

  Status add(const ShardedArray& array);
  Status finish() { return writer_->finish(); }

 private:
  explicit Save(std::unique_ptr<SafetensorsWriter> writer) : writer_(std::move(writer)) {}

  std::unique_ptr<SafetensorsWriter> writer_;
  std::map<std::string, std::size_t> numbers_;  // by name
};

}  // namespace shardwise::cli
