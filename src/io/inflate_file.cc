#include "io/inflate_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "io/file_range.h"
#include "io/inflate_stream.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kMaxPoints = 128;
constexpr std::uint64_t kSegmentBytes = 256_KiB;
constexpr std::size_t kMaxSegments = 16;
constexpr std::size_t kSmallRead = std::size_t{64} << 10;  // larger reads do not go through segments
constexpr std::uint64_t kMaxExpansion = 1032;              // deflate: 258 bytes in two bits

// Restart points are at every multiple of this many inflated bytes.
std::uint64_t point_interval(std::uint64_t size) {
  return std::max(1_MiB, round_up(ceil_div(size, kMaxPoints), kSegmentBytes));
}

// Thread-safe: one mutex around everything that changes. Shares ownership of the archive.
class InflateFile final : public File {
 public:
  InflateFile(DeflatedMember member, std::uint64_t max_work)
      : member_(std::move(member)),
        interval_(point_interval(member_.size)),
        max_work_(max_work),
        input_(member_),
        work_left_(max_work) {}

  const std::string& path() const override { return member_.path; }
  std::uint64_t size() const override { return member_.size; }
  Status read(std::uint64_t offset, std::span<std::byte> target) const override;

 private:
  struct Segment {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  // The cached segment that holds `offset`, now the most recently used; nullptr when there is none.
  const Segment* cached(std::uint64_t offset) const;
  Status load_segment(std::uint64_t offset) const;
  // Inflates straight into `target`.
  Status read_direct(std::uint64_t offset, std::span<std::byte> target) const;
  // Makes running_ a stream at `offset`, by going on or from the nearest restart point.
  Status seek(std::uint64_t offset) const;
  // The next bytes of running_, with restart points made on the way.
  Status advance(std::span<std::byte> target) const;

  const DeflatedMember member_;
  const std::uint64_t interval_;
  const std::uint64_t max_work_;
  mutable std::mutex mutex_;
  mutable DeflatedInput input_;
  mutable std::uint64_t work_left_;
  mutable std::unique_ptr<InflateStream> running_;              // null: start again
  mutable std::vector<std::unique_ptr<InflateStream>> points_;  // points_[i] is at (i + 1) * interval_
  mutable std::list<Segment> segments_;                         // most recently used first
};

Status InflateFile::read(std::uint64_t offset, std::span<std::byte> target) const {
  SHARDWISE_RETURN_IF_ERROR(check_file_range(path(), size(), offset, target.size()));
  const std::lock_guard lock(mutex_);
  while (!target.empty()) {
    if (const Segment* segment = cached(offset)) {
      const auto skip = static_cast<std::size_t>(offset - segment->begin);
      const std::size_t count = std::min(target.size(), segment->bytes.size() - skip);
      std::memcpy(target.data(), segment->bytes.data() + skip, count);
      target = target.subspan(count);
      offset += count;
      continue;
    }
    // Where the rest of a segment is corrupt, the bytes before it can still be read directly.
    if (target.size() <= kSmallRead && load_segment(offset).ok()) continue;
    return read_direct(offset, target);
  }
  return {};
}

const InflateFile::Segment* InflateFile::cached(std::uint64_t offset) const {
  const std::uint64_t begin = round_down(offset, kSegmentBytes);
  for (auto i = segments_.begin(); i != segments_.end(); ++i) {
    if (i->begin != begin) continue;
    segments_.splice(segments_.begin(), segments_, i);
    return &segments_.front();
  }
  return nullptr;
}

Status InflateFile::load_segment(std::uint64_t offset) const {
  Segment segment;
  if (segments_.size() == kMaxSegments) {
    segment = std::move(segments_.back());
    segments_.pop_back();
  }
  segment.begin = round_down(offset, kSegmentBytes);
  segment.bytes.resize(static_cast<std::size_t>(std::min(kSegmentBytes, size() - segment.begin)));
  SHARDWISE_RETURN_IF_ERROR(read_direct(segment.begin, segment.bytes));
  segments_.push_front(std::move(segment));
  return {};
}

Status InflateFile::read_direct(std::uint64_t offset, std::span<std::byte> target) const {
  Status status = seek(offset);
  if (status.ok()) status = advance(target);
  if (status.ok() && running_->position() == size()) {
    status = running_->finish(input_);
    running_.reset();
  }
  if (!status.ok()) running_.reset();
  return status;
}

Status InflateFile::seek(std::uint64_t offset) const {
  const std::uint64_t point = std::min<std::uint64_t>(offset / interval_, points_.size());
  const bool go_on = running_ != nullptr && running_->position() <= offset && running_->position() >= point * interval_;
  if (!go_on && point == 0) {
    SHARDWISE_ASSIGN_OR_RETURN(running_, InflateStream::start(member_));
  } else if (!go_on) {
    SHARDWISE_ASSIGN_OR_RETURN(running_, points_[point - 1]->copy());
  }
  std::array<std::byte, 16384> skipped;
  while (running_->position() < offset) {
    const auto count = std::min<std::uint64_t>(skipped.size(), offset - running_->position());
    SHARDWISE_RETURN_IF_ERROR(advance(std::span(skipped).first(static_cast<std::size_t>(count))));
  }
  return {};
}

Status InflateFile::advance(std::span<std::byte> target) const {
  while (!target.empty()) {
    const std::uint64_t next_point = (points_.size() + 1) * interval_;
    std::uint64_t count = target.size();
    if (running_->position() < next_point) count = std::min(count, next_point - running_->position());
    if (count > work_left_) {
      return resource_exhausted(
          "{}: {} read here and there take more than {} of inflating (addresses made to be slow?)", path(),
          format_bytes(size()), format_bytes(max_work_));
    }
    work_left_ -= count;
    SHARDWISE_RETURN_IF_ERROR(running_->read(input_, target.first(static_cast<std::size_t>(count))));
    target = target.subspan(static_cast<std::size_t>(count));
    if (running_->position() != next_point) continue;
    SHARDWISE_ASSIGN_OR_RETURN(auto point, running_->copy());
    points_.push_back(std::move(point));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const File>> open_inflate_file(std::shared_ptr<const File> archive, ByteRange member,
                                                      std::uint64_t size, InflateOptions options) {
  std::string& path = options.path;
  if (path.empty()) path = archive->path();
  if (member.begin > member.end || member.end > archive->size()) {
    return data_loss("{}: deflated bytes {} are not inside {} of {} bytes (truncated?)", path, to_string(member),
                     archive->path(), archive->size());
  }
  if (size / kMaxExpansion > member.size()) {
    return data_loss("{}: {} deflated bytes of {} cannot inflate to {} bytes (corrupt archive)", path, member.size(),
                     archive->path(), size);
  }
  return std::shared_ptr<const File>(std::make_shared<InflateFile>(
      DeflatedMember{std::move(archive), member, size, std::move(path)}, options.max_work));
}

}  // namespace shardwise
