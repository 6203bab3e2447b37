#include "cli/raw_read.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/checked.h"
#include "base/format.h"
#include "concurrency/task_group.h"
#include "io/memory.h"
#include "io/ring.h"

namespace shardwise::cli {
namespace {

constexpr std::uint64_t kPiece = 8_MiB;

// One read: bytes of a file into the buffer.
struct Piece {
  std::size_t range = 0;
  std::uint64_t file_begin = 0;
  std::uint64_t size = 0;
  std::uint64_t target = 0;
};

// Pieces of all ranges; their targets have the alignment that direct reads want.
std::vector<Piece> cut(const std::vector<FileRange>& ranges, std::uint64_t& buffer_bytes) {
  std::vector<Piece> pieces;
  buffer_bytes = 0;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const ByteRange range = ranges[r].range;
    for (std::uint64_t at = round_down(range.begin, kDirectAlignment); at < range.end; at += kPiece) {
      const std::uint64_t size = std::min(kPiece, range.end - at);
      pieces.push_back({r, at, size, buffer_bytes});
      buffer_bytes += round_up(size, kDirectAlignment);
    }
  }
  return pieces;
}

Status read_direct(const DirectFile& file, const Piece& piece, std::byte* target) {
  std::uint64_t done = 0;
  while (done < piece.size) {
    const auto got = ::pread(file.descriptor(), target + done, round_up(piece.size - done, kDirectAlignment),
                             static_cast<off_t>(piece.file_begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unavailable("{}: direct read: {}", file.path(), std::strerror(errno));
    if (got == 0) return data_loss("{}: became shorter", file.path());
    done += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::vector<std::shared_ptr<const DirectFile>>> open_direct(const std::vector<FileRange>& ranges) {
  std::vector<std::shared_ptr<const DirectFile>> files;
  for (const FileRange& part : ranges) {
    SHARDWISE_ASSIGN_OR_RETURN(auto file, DirectFile::open(*part.file));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

Result<double> raw_read(const std::vector<FileRange>& ranges, unsigned threads, RawMethod method,
                        std::stop_token stop) {
  std::vector<std::shared_ptr<const DirectFile>> direct;
  if (method == RawMethod::kDirect) {
    SHARDWISE_ASSIGN_OR_RETURN(direct, open_direct(ranges));
  }
  std::uint64_t buffer_bytes = 0;
  const auto pieces = cut(ranges, buffer_bytes);
  const auto start = std::chrono::steady_clock::now();
  SHARDWISE_ASSIGN_OR_RETURN(HugeBuffer buffer, HugeBuffer::create(buffer_bytes));
  std::atomic<std::size_t> next{0};
  const auto work = [&](const std::stop_token& token) -> Status {
    for (std::size_t p = next++; p < pieces.size(); p = next++) {
      if (token.stop_requested()) return cancelled("stopped");
      const Piece& piece = pieces[p];
      std::byte* target = buffer.data() + piece.target;
      SHARDWISE_RETURN_IF_ERROR(method == RawMethod::kDirect
                                    ? read_direct(*direct[piece.range], piece, target)
                                    : ranges[piece.range].file->read(piece.file_begin, {target, piece.size}));
    }
    return {};
  };
  TaskGroup group(stop);
  for (unsigned t = 0; t < threads; ++t) SHARDWISE_RETURN_IF_ERROR(group.start(work));
  SHARDWISE_RETURN_IF_ERROR(group.wait());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace shardwise::cli
