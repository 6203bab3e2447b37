// Exit codes of the command, and how a Status becomes one.
#pragma once

#include <cstdint>

#include "shardwise/status.h"

namespace shardwise::cli {

enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,      // it ran, and the answer is no: tensors differ, a check failed, output could not be written
  kUsage = 2,       // the request can never work: unknown option, wrong mesh, bad layout
  kDoesNotFit = 3,  // devices or host lack the memory
  kUnreadable = 4,  // the checkpoint is missing, damaged or unsupported, or changed while it was read
  kInterrupted = 130,
};

// What was being done when a Status came back: the same code means different things at different stages.
enum class Stage : std::uint8_t {
  kRequest,  // reading options, meshes and layouts
  kOpen,     // opening the checkpoint
  kPlan,     // binding tensors to layouts and planning
  kFit,      // comparing the plan with the devices' limits
  kLoad,     // reading tensor data
  kOutput,   // writing results
};

// A Status with its stage.
struct StageStatus {
  Stage stage = Stage::kRequest;
  Status status;
  bool ok() const { return status.ok(); }
};

ExitCode exit_code(Stage stage, Code code);
inline ExitCode exit_code(const StageStatus& outcome) { return exit_code(outcome.stage, outcome.status.code()); }

}  // namespace shardwise::cli
