#include "shardwise/status.h"

#include "base/format.h"

namespace shardwise {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kPermissionDenied:
      return "PERMISSION_DENIED";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kUnimplemented:
      return "UNIMPLEMENTED";
    case Code::kInternal:
      return "INTERNAL";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDataLoss:
      return "DATA_LOSS";
  }
  return "UNKNOWN";
}

std::string Status::to_string() const {
  if (ok()) return "OK";
  return format("{}: {}", shardwise::to_string(code_), message_);
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, format("{}: {}", context, message_));
}

Status cancelled(std::string message) { return {Code::kCancelled, std::move(message)}; }
Status invalid_argument(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }
Status not_found(std::string message) { return {Code::kNotFound, std::move(message)}; }
Status permission_denied(std::string message) { return {Code::kPermissionDenied, std::move(message)}; }
Status resource_exhausted(std::string message) { return {Code::kResourceExhausted, std::move(message)}; }
Status failed_precondition(std::string message) { return {Code::kFailedPrecondition, std::move(message)}; }
Status unimplemented(std::string message) { return {Code::kUnimplemented, std::move(message)}; }
Status internal_error(std::string message) { return {Code::kInternal, std::move(message)}; }
Status unavailable(std::string message) { return {Code::kUnavailable, std::move(message)}; }
Status data_loss(std::string message) { return {Code::kDataLoss, std::move(message)}; }

std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string out;
  for (char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > kMost) out += format("... ({} bytes)", text.size());
  return out;
}

}  // namespace shardwise
