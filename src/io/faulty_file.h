// FaultyFile: another File with faults put into it, and a count of what was read. For tests of whoever reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "shardwise/bytes.h"
#include "shardwise/file.h"

namespace shardwise {

// What goes wrong. The defaults: nothing.
struct Faults {
  // Reads that touch this range fail with UNAVAILABLE, as on a bad disk block.
  std::optional<ByteRange> io_error;

  // From read number `shrinks_at` on (the first is 0), the file ends at `shrunk_size`: size() still tells the old one,
  // reads beyond the new one fail with DATA_LOSS, as when somebody truncates a file in use.
  std::uint64_t shrinks_at = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t shrunk_size = 0;

  // The byte at this offset reads inverted: silent corruption.
  std::optional<std::uint64_t> flipped_byte;

  // Every read takes at least this long.
  std::chrono::microseconds delay{0};

  // Called before each read with its number, from the reading thread: to stop a load in its middle, for instance.
  std::function<void(std::uint64_t number)> on_read;
};

// Thread-safe. Shares ownership of the file below. Has no descriptor, so that all its bytes come through read().
class FaultyFile final : public File {
 public:
  explicit FaultyFile(std::shared_ptr<const File> file, Faults faults = {})
      : file_(std::move(file)), faults_(std::move(faults)) {}

  const std::string& path() const override { return file_->path(); }
  std::uint64_t size() const override { return file_->size(); }
  Status read(std::uint64_t offset, std::span<std::byte> target) const override;

  // Calls of read(), and bytes that those which succeeded delivered.
  std::uint64_t reads() const { return reads_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  const std::shared_ptr<const File> file_;
  const Faults faults_;
  mutable std::atomic<std::uint64_t> reads_{0};
  mutable std::atomic<std::uint64_t> bytes_read_{0};
};

}  // namespace shardwise
