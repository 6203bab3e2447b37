#include "cli/console.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/format.h"

namespace shardwise::cli {
namespace {

void write(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

}  // namespace

void Console::text(std::string_view text) const {
  if (!is_json()) write(stdout, text);
}

void Console::document(const Json& document) const {
  if (is_json()) write(stdout, dump(document) + "\n");
}

void Console::flush() const { std::fflush(stdout); }

void Console::remark(std::string_view text) const {
  if (!is_json()) write(stderr, text);
}

ExitCode Console::fail(const StageStatus& outcome, Json document) const {
  const char* label = outcome.status.code() == Code::kCancelled ? "interrupted" : "error";
  std::fflush(stdout);
  write(stderr, format("{}: {}\n", label, outcome.status.message()));
  document["error"] = error_json(outcome);
  this->document(document);
  return exit_code(outcome);
}

Status flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return unavailable("the output could not be written: {}", std::strerror(errno));
}

}  // namespace shardwise::cli
