#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/format.h"
#include "codec/byte_cursor.h"
#include "codec/shuffle.h"

namespace shardwise {
namespace {

// Holds one cursor in each byte plane, all at the same element, and the elements that these gave last. The cursor of
// the last plane goes on into the unshuffled bytes behind the planes.
class UnshuffleCursor final : public ByteCursor {
 public:
  UnshuffleCursor(std::uint64_t element_size, std::uint64_t size, std::size_t buffer)
      : element_size_(element_size),
        planes_end_(size / element_size * element_size),
        planes_buffer_(buffer),
        elements_(buffer) {}

  // `shuffled` stands at the start of the shuffled bytes.
  Status open(std::unique_ptr<ByteCursor> shuffled, std::uint64_t position) {
    position_ = position;
    if (position >= planes_end_) {
      SHARDWISE_RETURN_IF_ERROR(shuffled->skip(position));
      planes_.push_back(std::move(shuffled));
      return {};
    }
    SHARDWISE_RETURN_IF_ERROR(shuffled->skip(position / element_size_));
    const std::uint64_t plane = planes_end_ / element_size_;
    planes_.push_back(std::move(shuffled));
    while (planes_.size() < element_size_) {
      SHARDWISE_ASSIGN_OR_RETURN(std::unique_ptr<ByteCursor> next, planes_.back()->clone());
      SHARDWISE_RETURN_IF_ERROR(next->skip(plane));
      planes_.push_back(std::move(next));
    }
    const std::uint64_t inside = position % element_size_;
    position_ -= inside;
    return inside != 0 ? skip(inside) : Status();
  }

  Status read(std::span<std::byte> target) override {
    while (!target.empty()) {
      if (begin_ == end_ && position_ >= planes_end_) {
        position_ += target.size();
        return planes_.back()->read(target);
      }
      if (begin_ == end_) SHARDWISE_RETURN_IF_ERROR(refill());
      const std::size_t count = std::min(target.size(), end_ - begin_);
      std::memcpy(target.data(), elements_.data() + begin_, count);
      target = target.subspan(count);
      advance(count);
    }
    return {};
  }

  Status skip(std::uint64_t count) override {
    const std::uint64_t buffered = std::min<std::uint64_t>(count, end_ - begin_);
    advance(static_cast<std::size_t>(buffered));
    count -= buffered;
    if (count != 0 && position_ < planes_end_) {
      const std::uint64_t elements = std::min(count, planes_end_ - position_) / element_size_;
      for (const auto& plane : planes_) SHARDWISE_RETURN_IF_ERROR(plane->skip(elements));
      position_ += elements * element_size_;
      count -= elements * element_size_;
    }
    if (count != 0 && position_ < planes_end_) {
      SHARDWISE_RETURN_IF_ERROR(refill());
      advance(static_cast<std::size_t>(count));
      return {};
    }
    position_ += count;
    return count != 0 ? planes_.back()->skip(count) : Status();
  }

  Result<std::unique_ptr<ByteCursor>> clone() const override {
    return internal_error("an unshuffled stream cannot be cloned");
  }

 private:
  Status refill() {
    const std::uint64_t most = elements_.size() / element_size_;
    const auto count = static_cast<std::size_t>(std::min(most, (planes_end_ - position_) / element_size_));
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      SHARDWISE_RETURN_IF_ERROR(planes_[p]->read(std::span(planes_buffer_).subspan(p * count, count)));
    }
    const std::size_t bytes = count * planes_.size();
    unshuffle(std::span(planes_buffer_).first(bytes), element_size_, std::span(elements_).first(bytes));
    begin_ = 0;
    end_ = bytes;
    return {};
  }

  void advance(std::size_t count) {
    begin_ += count;
    position_ += count;
  }

  std::uint64_t element_size_;
  std::uint64_t planes_end_;    // where the whole elements end, in bytes
  std::uint64_t position_ = 0;  // in the result
  std::vector<std::unique_ptr<ByteCursor>> planes_;
  std::vector<std::byte> planes_buffer_;
  std::vector<std::byte> elements_;
  std::size_t begin_ = 0;  // of the elements in elements_ that are not given out yet
  std::size_t end_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteCursor>> unshuffle_cursor(std::unique_ptr<ByteCursor> shuffled, std::uint64_t element_size,
                                                     std::uint64_t size, std::uint64_t position, std::size_t buffer) {
  auto cursor = std::make_unique<UnshuffleCursor>(element_size, size, buffer);
  SHARDWISE_RETURN_IF_ERROR(cursor->open(std::move(shuffled), position));
  return std::unique_ptr<ByteCursor>(std::move(cursor));
}

}  // namespace shardwise
