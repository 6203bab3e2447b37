#include "load/read_ahead.h"

#include <algorithm>

#include "base/checked.h"
#include "shardwise/bytes.h"

namespace shardwise {
namespace {

// The longest request, and so what one thread fills at a time: two threads at work on the same huge page would both
// clear it.
constexpr std::uint64_t kStretchBytes = 2_MiB;

}  // namespace

std::uint64_t ReadAhead::slot_bytes(std::uint64_t window) {
  return round_up(window, kDirectAlignment) + 2 * kDirectAlignment;
}

// A stretch is a quarter of the slots at most; what is not in flight suffices for one.
ReadAhead::ReadAhead(std::uint64_t window, unsigned slots)
    : slot_bytes_(slot_bytes(window)),
      stretch_(static_cast<unsigned>(std::clamp<std::uint64_t>(kStretchBytes / window, 1, (slots + 3) / 4))),
      most_in_flight_(std::max(stretch_, slots - stretch_)),
      used_(slots, false),
      requests_(slots) {}

Result<std::unique_ptr<ReadAhead>> ReadAhead::create(std::uint64_t window, unsigned slots, bool with_ring) {
  std::unique_ptr<ReadAhead> made(new ReadAhead(window, slots));
  SHARDWISE_ASSIGN_OR_RETURN(made->memory_, HugeBuffer::create(slot_bytes(window) * slots));
  if (with_ring) {
    SHARDWISE_ASSIGN_OR_RETURN(made->ring_, Ring::create(slots));
  }
  return made;
}

std::optional<unsigned> ReadAhead::find_free(unsigned count) const {
  unsigned run = 0;
  for (unsigned slot = 0; slot < used_.size(); ++slot) {
    run = used_[slot] ? 0 : run + 1;
    if (run == count) return slot + 1 - count;
  }
  return std::nullopt;
}

bool ReadAhead::has_room() const {
  return (in_flight_ == 0 || in_flight_ + stretch_ <= most_in_flight_) && find_free(stretch_).has_value();
}

Status ReadAhead::submit(const DirectFile& file, std::span<const Window> windows) {
  while (!windows.empty()) {
    std::size_t count = 1;
    while (count < windows.size() && windows[count].range.begin == windows[count - 1].range.end) ++count;
    SHARDWISE_RETURN_IF_ERROR(submit_request(file, windows.first(count)));
    windows = windows.subspan(count);
  }
  return Status();
}

// The slots are there: parts of a stretch take the first place that is long enough, which at worst is the beginning of
// the one that has_room() found.
Status ReadAhead::submit_request(const DirectFile& file, std::span<const Window> windows) {
  const auto count = static_cast<unsigned>(windows.size());
  const std::optional<unsigned> slot = find_free(count);
  if (!slot || ring_ == nullptr) return internal_error("no free slots for a direct read");
  const std::uint64_t begin = round_down(windows.front().range.begin, kDirectAlignment);
  const std::uint64_t end = round_up(windows.back().range.end, kDirectAlignment);
  SHARDWISE_RETURN_IF_ERROR(ring_->submit(file, begin, {address(*slot), end - begin}, *slot));
  requests_[*slot] = {{windows.begin(), windows.end()}};
  std::fill_n(used_.begin() + *slot, count, true);
  in_flight_ += count;
  return Status();
}

Status ReadAhead::arrive(const Ring::Completion& completion) {
  SHARDWISE_RETURN_IF_ERROR(completion.status);
  const auto slot = static_cast<unsigned>(completion.tag);
  in_flight_ -= static_cast<unsigned>(requests_[slot].windows.size());
  arrived_.push_back(slot);
  return Status();
}

Status ReadAhead::reap() {
  while (in_flight_ > 0) {
    SHARDWISE_ASSIGN_OR_RETURN(const auto completion, ring_->poll());
    if (!completion) break;
    SHARDWISE_RETURN_IF_ERROR(arrive(*completion));
  }
  return Status();
}

Status ReadAhead::wait() {
  SHARDWISE_ASSIGN_OR_RETURN(const auto completion, ring_->wait());
  return arrive(completion);
}

const Window& ReadAhead::front() const {
  const Request& request = requests_[arrived_.front()];
  return request.windows[request.next];
}

std::span<const std::byte> ReadAhead::front_bytes() {
  const Request& request = requests_[arrived_.front()];
  const Window& window = request.windows[request.next];
  const std::uint64_t begin = round_down(request.windows.front().range.begin, kDirectAlignment);  // of what was read
  return {address(arrived_.front()) + (window.range.begin - begin), window.range.size()};
}

// A window's bytes may begin in the slot before its own, so slots are freed when all of a request is done.
void ReadAhead::pop() {
  Request& request = requests_[arrived_.front()];
  if (++request.next < request.windows.size()) return;
  std::fill_n(used_.begin() + arrived_.front(), request.windows.size(), false);
  arrived_.pop_front();
}

std::span<std::byte> ReadAhead::scratch() { return {address(find_free(1).value_or(0)), slot_bytes_}; }

}  // namespace shardwise
