// Status and Result<T>: how shardwise reports that something could not be done.
//
// Errors are values. No function of the library throws on purpose or aborts; `value_or_throw()` is there for callers
// who prefer exceptions. Codes are those of absl and gRPC (PJRT uses the same), chosen by what the caller should do.
#pragma once

#include <cassert>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace shardwise {

enum class Code {
  kOk = 0,
  kCancelled = 1,           // the caller asked to stop
  kInvalidArgument = 3,     // the request can never work: change the request
  kNotFound = 5,            // a named file, tensor or axis does not exist
  kPermissionDenied = 7,    // the system refused access
  kResourceExhausted = 8,   // does not fit: device memory, host memory, staging, a cap on untrusted input
  kFailedPrecondition = 9,  // right request, wrong moment: a file changed after it was opened
  kUnimplemented = 12,      // a legal feature that shardwise does not support; the message names it
  kInternal = 13,           // a bug in shardwise
  kUnavailable = 14,        // I/O error that may go away
  kDataLoss = 15,           // the bytes are not what they should be: truncated, corrupt, hostile
};

// "INVALID_ARGUMENT" and so on.
std::string_view to_string(Code code);

// Ok, or a code with a message that names what, where, the numbers and the likely cause. Immutable.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // "DATA_LOSS: model.safetensors: ..." or "OK".
  std::string to_string() const;

  // The same code, with `context` and ": " put before the message. Ok stays ok.
  Status with_context(std::string_view context) const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

Status cancelled(std::string message);
Status invalid_argument(std::string message);
Status not_found(std::string message);
Status permission_denied(std::string message);
Status resource_exhausted(std::string message);
Status failed_precondition(std::string message);
Status unimplemented(std::string message);
Status internal_error(std::string message);
Status unavailable(std::string message);
Status data_loss(std::string message);

// A T, or the Status that says why there is none. Reading the value of a failed Result is a bug of the caller
// (assert); ask ok() first, or call value_or_throw().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & {
    assert(ok());
    return *value_;
  }
  const T& value() const& {
    assert(ok());
    return *value_;
  }
  T&& value() && {
    assert(ok());
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // The value; throws std::runtime_error with the status's text when there is none.
  T& value_or_throw() & {
    throw_if_error();
    return *value_;
  }
  T&& value_or_throw() && {
    throw_if_error();
    return *std::move(value_);
  }

 private:
  void throw_if_error() const {
    if (!ok()) throw std::runtime_error(status_.to_string());
  }

  Status status_;
  std::optional<T> value_;
};

#define SHARDWISE_CONCAT_INNER_(a, b) a##b
#define SHARDWISE_CONCAT_(a, b) SHARDWISE_CONCAT_INNER_(a, b)

// Returns from the calling function when `expression`, a Status, is an error.
#define SHARDWISE_RETURN_IF_ERROR(expression)                                      \
  do {                                                                             \
    if (::shardwise::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// SHARDWISE_ASSIGN_OR_RETURN(auto x, f()): x = *f(), or returns f()'s error.
#define SHARDWISE_ASSIGN_OR_RETURN(target, expression) \
  SHARDWISE_ASSIGN_OR_RETURN_IMPL_(SHARDWISE_CONCAT_(result_, __LINE__), target, expression)
#define SHARDWISE_ASSIGN_OR_RETURN_IMPL_(result, target, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) return result.status();                          \
  target = std::move(result).value()

}  // namespace shardwise
