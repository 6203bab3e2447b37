#include "io/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "io/descriptor.h"
#include "io/system_error.h"

namespace shardwise {
namespace {

constexpr const char* kStatus = "/proc/self/status";
constexpr const char* kClearRefs = "/proc/self/clear_refs";

Result<std::string> read_status() {
  const Descriptor descriptor(::open(kStatus, O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid()) return unimplemented("{}: cannot open it: {}", kStatus, errno_text(errno));
  std::string text(16384, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(descriptor.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unimplemented("{}: cannot read it: {}", kStatus, errno_text(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

// The number of the line "<key>:   123 kB", in bytes.
Result<std::uint64_t> field(std::string_view text, std::string_view key) {
  const std::string start = format("\n{}:", key);
  const std::size_t at = text.find(start);
  if (at == std::string_view::npos) return unimplemented("{}: has no {}", kStatus, key);
  std::string_view rest = text.substr(at + start.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t kilobytes = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes);
  if (parsed.ec != std::errc()) return unimplemented("{}: {} is no number", kStatus, key);
  return kilobytes * 1024;
}

}  // namespace

Result<ProcessMemory> process_memory() {
  SHARDWISE_ASSIGN_OR_RETURN(const std::string text, read_status());
  ProcessMemory memory;
  SHARDWISE_ASSIGN_OR_RETURN(memory.resident, field(text, "VmRSS"));
  SHARDWISE_ASSIGN_OR_RETURN(memory.peak_resident, field(text, "VmHWM"));
  SHARDWISE_ASSIGN_OR_RETURN(memory.anonymous, field(text, "RssAnon"));
  SHARDWISE_ASSIGN_OR_RETURN(memory.file, field(text, "RssFile"));
  SHARDWISE_ASSIGN_OR_RETURN(memory.shared, field(text, "RssShmem"));
  return memory;
}

Status reset_peak_resident() {
  const Descriptor descriptor(::open(kClearRefs, O_WRONLY | O_CLOEXEC));
  if (!descriptor.valid()) return unimplemented("{}: cannot open it: {}", kClearRefs, errno_text(errno));
  if (::write(descriptor.get(), "5", 1) != 1) return unimplemented("{}: refused: {}", kClearRefs, errno_text(errno));
  return {};
}

}  // namespace shardwise
