#include "cli/exit_code.h"

namespace shardwise::cli {
namespace {

ExitCode while_planning(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
      return ExitCode::kUsage;
    case Code::kDataLoss:
      return ExitCode::kUnreadable;
    case Code::kResourceExhausted:
      return ExitCode::kDoesNotFit;
    default:
      return ExitCode::kFailed;
  }
}

ExitCode while_loading(Code code) {
  switch (code) {
    case Code::kResourceExhausted:
      return ExitCode::kDoesNotFit;
    case Code::kNotFound:
    case Code::kPermissionDenied:
    case Code::kFailedPrecondition:
    case Code::kUnavailable:
    case Code::kDataLoss:
      return ExitCode::kUnreadable;
    default:
      return ExitCode::kFailed;
  }
}

}  // namespace

ExitCode exit_code(Stage stage, Code code) {
  if (code == Code::kOk) return ExitCode::kOk;
  if (code == Code::kCancelled) return ExitCode::kInterrupted;
  if (code == Code::kInternal) return ExitCode::kFailed;
  switch (stage) {
    case Stage::kRequest:
      return ExitCode::kUsage;
    case Stage::kOpen:
      return ExitCode::kUnreadable;
    case Stage::kPlan:
      return while_planning(code);
    case Stage::kFit:
      return ExitCode::kDoesNotFit;
    case Stage::kLoad:
      return while_loading(code);
    case Stage::kOutput:
      return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

}  // namespace shardwise::cli
