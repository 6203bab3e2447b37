// Console: where a command's results and errors go.
#pragma once

#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/json.h"

namespace shardwise::cli {

enum class Format : std::uint8_t { kText, kJson };

// Results go to stdout, everything else to stderr. In JSON format stdout gets exactly one document, errors included.
// Thread-compatible.
class Console {
 public:
  explicit Console(Format format) : format_(format) {}

  bool is_json() const { return format_ == Format::kJson; }
  // Text of the result; nothing in JSON format.
  void text(std::string_view text) const;
  // The result in JSON format; nothing otherwise.
  void document(const Json& document) const;
  // Writes out what text() has buffered.
  void flush() const;
  // A remark for people, on stderr; nothing in JSON format.
  void remark(std::string_view text) const;

  // Reports an error: "error: ..." on stderr and, in JSON format, `document` with a member "error" on stdout. Returns
  // the exit code.
  ExitCode fail(const StageStatus& outcome, Json document = Json::object()) const;
  ExitCode fail(Stage stage, Status status, Json document = Json::object()) const {
    return fail(StageStatus{stage, std::move(status)}, std::move(document));
  }

 private:
  Format format_;
};

// Flushes stdout. Errors: UNAVAILABLE when something could not be written (disk full).
Status flush_output();

}  // namespace shardwise::cli
