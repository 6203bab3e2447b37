#include "io/inflate_stream.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/format.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kInputBytes = 64_KiB;
constexpr std::size_t kMaxStep = std::size_t{1} << 30;  // zlib counts in unsigned int
constexpr int kRawDeflate = -MAX_WBITS;

}  // namespace

Result<std::span<const std::byte>> DeflatedInput::at(std::uint64_t offset) {
  if (offset < held_.begin || offset >= held_.end) {
    const std::uint64_t left = member_.range.size() - offset;
    if (buffer_.empty()) buffer_.resize(static_cast<std::size_t>(std::min(kInputBytes, member_.range.size())));
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left));
    held_ = {};
    SHARDWISE_RETURN_IF_ERROR(member_.archive->read(member_.range.begin + offset, std::span(buffer_).first(count)));
    held_ = {offset, offset + count};
  }
  const auto skipped = static_cast<std::size_t>(offset - held_.begin);
  return std::span<const std::byte>(buffer_).subspan(skipped, static_cast<std::size_t>(held_.end - offset));
}

Result<std::unique_ptr<InflateStream>> InflateStream::start(const DeflatedMember& member) {
  std::unique_ptr<InflateStream> stream(new (std::nothrow) InflateStream(member));
  if (stream == nullptr || inflateInit2(&stream->zlib_, kRawDeflate) != Z_OK) {
    return resource_exhausted("{}: no memory to inflate with", member.path);
  }
  return stream;
}

Result<std::unique_ptr<InflateStream>> InflateStream::copy() const {
  std::unique_ptr<InflateStream> other(new (std::nothrow) InflateStream(member_));
  // inflateCopy() takes its source as a pointer to non-const, and only reads it.
  if (other == nullptr || inflateCopy(&other->zlib_, const_cast<z_stream*>(&zlib_)) != Z_OK) {
    return resource_exhausted("{}: no memory to keep the state of an inflate", member_.path);
  }
  other->zlib_.next_in = nullptr;
  other->zlib_.avail_in = 0;
  other->position_ = position_;
  other->consumed_ = consumed_;
  other->ended_ = ended_;
  return other;
}

Status InflateStream::corrupt(std::string_view what) const {
  return data_loss("{}: deflated bytes {} of {}: {} at inflated offset {} of {} (corrupt archive)", member_.path,
                   to_string(member_.range), member_.archive->path(), what, position_, member_.size);
}

Result<std::size_t> InflateStream::step(DeflatedInput& input, std::span<std::byte> target) {
  std::span<const std::byte> bytes;
  if (consumed_ < member_.range.size()) {
    SHARDWISE_ASSIGN_OR_RETURN(bytes, input.at(consumed_));
  }
  const auto room = static_cast<unsigned>(std::min(target.size(), kMaxStep));
  zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  zlib_.avail_in = static_cast<unsigned>(bytes.size());
  zlib_.next_out = reinterpret_cast<Bytef*>(target.data());
  zlib_.avail_out = room;
  const int code = inflate(&zlib_, Z_NO_FLUSH);
  const std::size_t made = room - zlib_.avail_out;
  const std::size_t used = bytes.size() - zlib_.avail_in;
  position_ += made;
  consumed_ += used;
  switch (code) {
    case Z_STREAM_END:
      ended_ = true;
      return made;
    case Z_OK:
    case Z_BUF_ERROR:
      if (made == 0 && used == 0) return corrupt("the stream is cut off");
      return made;
    case Z_MEM_ERROR:
      return resource_exhausted("{}: no memory to inflate with", member_.path);
    default:
      return corrupt(zlib_.msg != nullptr ? zlib_.msg : "invalid data");
  }
}

Status InflateStream::read(DeflatedInput& input, std::span<std::byte> target) {
  while (!target.empty()) {
    if (ended_) return corrupt("the stream ends");
    SHARDWISE_ASSIGN_OR_RETURN(const std::size_t made, step(input, target));
    target = target.subspan(made);
  }
  return {};
}

Status InflateStream::finish(DeflatedInput& input) {
  while (!ended_) {
    std::array<std::byte, 1> beyond;
    SHARDWISE_ASSIGN_OR_RETURN(const std::size_t made, step(input, beyond));
    if (made > 0) return corrupt("the stream goes on beyond its declared size");
  }
  if (consumed_ != member_.range.size()) {
    return corrupt(format("the stream ends after {} of {} deflated bytes", consumed_, member_.range.size()));
  }
  return {};
}

}  // namespace shardwise
