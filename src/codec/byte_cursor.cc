#include "codec/byte_cursor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/format.h"
#include "codec/inflate.h"

namespace shardwise {
namespace {

class StoredCursor final : public ByteCursor {
 public:
  StoredCursor(const ReadBytes& read, std::uint64_t size) : read_(&read), size_(size) {}

  Status read(std::span<std::byte> target) override {
    if (target.size() > size_ - position_) return internal_error("read of {} bytes behind the end", target.size());
    if (target.empty()) return {};
    SHARDWISE_RETURN_IF_ERROR((*read_)(position_, target));
    position_ += target.size();
    return {};
  }
  Status skip(std::uint64_t count) override {
    if (count > size_ - position_) return internal_error("skip of {} bytes behind the end", count);
    position_ += count;
    return {};
  }
  Result<std::unique_ptr<ByteCursor>> clone() const override {
    return std::unique_ptr<ByteCursor>(std::make_unique<StoredCursor>(*this));
  }

 private:
  const ReadBytes* read_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
};

class InflateCursor final : public ByteCursor {
 public:
  InflateCursor(Inflater inflater, const ReadBytes& read, std::uint64_t stored_size, std::uint64_t size,
                std::size_t piece)
      : inflater_(std::move(inflater)), read_(&read), stored_size_(stored_size), size_(size), buffer_(piece) {}

  Status read(std::span<std::byte> target) override {
    if (target.size() > size_ - produced_) return internal_error("read of {} bytes behind the end", target.size());
    while (!target.empty()) {
      SHARDWISE_ASSIGN_OR_RETURN(const std::size_t count, inflate_some(target));
      if (count == 0) return ended_early();
      target = target.subspan(count);
      produced_ += count;
    }
    return produced_ == size_ && !finished_ ? finish() : Status();
  }

  Status skip(std::uint64_t count) override {
    std::array<std::byte, 4096> ignored;
    while (count != 0) {
      const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(count, ignored.size()));
      SHARDWISE_RETURN_IF_ERROR(read(std::span(ignored).first(now)));
      count -= now;
    }
    return {};
  }

  Result<std::unique_ptr<ByteCursor>> clone() const override {
    SHARDWISE_ASSIGN_OR_RETURN(Inflater inflater, inflater_.clone());
    auto copy = std::make_unique<InflateCursor>(std::move(inflater), *read_, stored_size_, size_, buffer_.size());
    copy->fetched_ = fetched_;
    copy->produced_ = produced_;
    copy->begin_ = begin_;
    copy->end_ = end_;
    copy->finished_ = finished_;
    std::copy(buffer_.begin(), buffer_.end(), copy->buffer_.begin());
    return std::unique_ptr<ByteCursor>(std::move(copy));
  }

 private:
  // Inflates at least one byte, unless the stream or the stored bytes end.
  Result<std::size_t> inflate_some(std::span<std::byte> target) {
    while (!inflater_.ended()) {
      if (begin_ == end_) SHARDWISE_RETURN_IF_ERROR(refill());
      const std::span<const std::byte> input = std::span(buffer_).subspan(begin_, end_ - begin_);
      SHARDWISE_ASSIGN_OR_RETURN(const Inflater::Progress progress, inflater_.run(input, target));
      begin_ += progress.consumed;
      if (progress.produced != 0) return progress.produced;
      if (begin_ == end_ && fetched_ == stored_size_) break;
    }
    return std::size_t{0};
  }

  Status refill() {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), stored_size_ - fetched_));
    if (count != 0) SHARDWISE_RETURN_IF_ERROR((*read_)(fetched_, std::span(buffer_).first(count)));
    fetched_ += count;
    begin_ = 0;
    end_ = count;
    return {};
  }

  // Every wanted byte came; now the stream must end, with the right checksum.
  Status finish() {
    std::array<std::byte, 1> extra;
    SHARDWISE_ASSIGN_OR_RETURN(const std::size_t more, inflate_some(extra));
    if (more != 0) return data_loss("deflate stream inflates to more than the {} bytes it should", size_);
    if (!inflater_.ended()) return ended_early();
    finished_ = true;
    return {};
  }

  Status ended_early() const {
    if (inflater_.ended()) return data_loss("deflate stream inflates to {} bytes instead of {}", produced_, size_);
    return data_loss("deflate stream of {} bytes ends early: {} of {} bytes inflated (truncated?)", stored_size_,
                     produced_, size_);
  }

  Inflater inflater_;
  const ReadBytes* read_;
  std::uint64_t stored_size_;
  std::uint64_t size_;
  std::uint64_t fetched_ = 0;   // stored bytes taken so far
  std::uint64_t produced_ = 0;  // inflated bytes given so far
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // of the stored bytes in buffer_ that are not inflated yet
  std::size_t end_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ByteCursor> stored_cursor(const ReadBytes& read, std::uint64_t size) {
  return std::make_unique<StoredCursor>(read, size);
}

Result<std::unique_ptr<ByteCursor>> inflate_cursor(const ReadBytes& read, std::uint64_t stored_size, std::uint64_t size,
                                                   std::size_t piece) {
  SHARDWISE_ASSIGN_OR_RETURN(Inflater inflater, Inflater::create());
  return std::unique_ptr<ByteCursor>(
      std::make_unique<InflateCursor>(std::move(inflater), read, stored_size, size, piece));
}

}  // namespace shardwise
