#include "io/ring.h"

#include <liburing.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "io/file_range.h"
#include "io/system_error.h"
#include "shardwise/bytes.h"

namespace shardwise {
namespace {

constexpr unsigned kMaxDepth = 4096;
constexpr std::uint64_t kMaxRead = 1_GiB;  // the length of an entry has 32 bits
// EAGAIN means "not now"; it is asked again, first at once, then every millisecond, and for about ten seconds.
constexpr unsigned kEagerRetries = 64;
constexpr unsigned kMaxRetries = 10'000;
constexpr std::uint64_t kIgnored = ~std::uint64_t{0};  // user_data of an entry that was taken back

void pause_before_retry(unsigned retries) {
  if (retries <= kEagerRetries) {
    ::sched_yield();
    return;
  }
  const timespec millisecond{0, 1'000'000};
  ::nanosleep(&millisecond, nullptr);
}

// A read in flight. Its bytes [0, done) have arrived; the entry in the kernel asks for those from `asked` on.
struct Slot {
  const DirectFile* file = nullptr;
  std::uint64_t offset = 0;
  std::span<std::byte> target;
  std::uint64_t tag = 0;
  std::uint64_t needed = 0;  // bytes up to the end of the file
  std::uint64_t done = 0;
  std::uint64_t asked = 0;
  unsigned retries = 0;
};

class UringRing final : public Ring {
 public:
  explicit UringRing(unsigned depth) : slots_(depth) {
    for (unsigned i = depth; i > 0; --i) free_.push_back(i - 1);
  }

  ~UringRing() override {
    if (!ready_) return;
    while (in_flight() > 0) {
      io_uring_cqe* cqe = nullptr;
      const int failed = io_uring_wait_cqe(&ring_, &cqe);
      if (failed == -EINTR || failed == -EAGAIN) continue;
      if (failed != 0) break;
      if (cqe->user_data != kIgnored) free_.push_back(static_cast<unsigned>(cqe->user_data));
      io_uring_cqe_seen(&ring_, cqe);
    }
    io_uring_queue_exit(&ring_);
  }

  Status set_up() {
    const int failed = io_uring_queue_init(static_cast<unsigned>(slots_.size()), &ring_, 0);
    if (failed == -EMFILE || failed == -ENFILE) return system_error(-failed, "io_uring", "set it up");
    if (failed != 0) {
      return unimplemented(
          "no io_uring: {} (an old kernel, a sandbox that forbids it, kernel.io_uring_disabled, or "
          "the limit of locked memory)",
          errno_text(-failed));
    }
    ready_ = true;
    io_uring_probe* const probe = io_uring_get_probe_ring(&ring_);
    const bool can_read = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_READ) != 0;
    io_uring_free_probe(probe);
    if (!can_read) return unimplemented(std::string("no io_uring: this kernel's has no read operation (needs 5.6)"));
    return {};
  }

  Status submit(const DirectFile& file, std::uint64_t offset, std::span<std::byte> target, std::uint64_t tag) override {
    const auto address = reinterpret_cast<std::uintptr_t>(target.data());
    if (((offset | target.size() | address) & (kDirectAlignment - 1)) != 0 || target.empty()) {
      return invalid_argument("{}: a direct read of {} bytes at {} to address {:#x} is not in multiples of {}",
                              printable(file.path()), target.size(), offset, address, kDirectAlignment);
    }
    if (offset >= file.size()) return ends_early(file.path(), file.size(), offset, target.size());
    if (free_.empty()) return failed_precondition("all {} reads of a ring are in flight", slots_.size());
    const unsigned index = free_.back();
    slots_[index] = Slot{&file, offset, target, tag, std::min<std::uint64_t>(target.size(), file.size() - offset)};
    SHARDWISE_RETURN_IF_ERROR(ask(index));
    free_.pop_back();
    return {};
  }

  Result<Completion> wait() override {
    if (in_flight() == 0) return failed_precondition("{}", "nothing is in flight in this ring");
    while (true) {
      io_uring_cqe* cqe = nullptr;
      const int failed = io_uring_wait_cqe(&ring_, &cqe);
      if (failed == -EINTR || failed == -EAGAIN) continue;
      if (failed != 0) return unavailable("io_uring: cannot wait for a read: {}", errno_text(-failed));
      if (auto completion = take(*cqe)) return *std::move(completion);
    }
  }

  Result<std::optional<Completion>> poll() override {
    io_uring_cqe* cqe = nullptr;
    while (in_flight() > 0 && io_uring_peek_cqe(&ring_, &cqe) == 0) {
      if (auto completion = take(*cqe)) return completion;
    }
    return std::optional<Completion>();
  }

  unsigned in_flight() const override { return static_cast<unsigned>(slots_.size() - free_.size()); }

 private:
  // Hands the kernel a read of what the slot still lacks, from the last aligned byte that it has.
  Status ask(unsigned index) {
    Slot& slot = slots_[index];
    slot.asked = round_down(slot.done, kDirectAlignment);
    io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
    if (sqe == nullptr) return internal_error("a ring of {} entries has none free", slots_.size());
    const auto count = static_cast<unsigned>(std::min(slot.target.size() - slot.asked, kMaxRead));
    io_uring_prep_read(sqe, slot.file->descriptor(), slot.target.data() + slot.asked, count, slot.offset + slot.asked);
    sqe->user_data = index;
    for (unsigned retries = 0;; ++retries) {
      const int submitted = io_uring_submit(&ring_);
      if (io_uring_sq_ready(&ring_) == 0) return {};
      const bool again = submitted >= 0 || submitted == -EINTR || submitted == -EAGAIN || submitted == -EBUSY;
      if (again && retries < kMaxRetries) {
        pause_before_retry(retries);
        continue;
      }
      // The kernel has not taken the entry: make it harmless before the target may go away.
      io_uring_prep_nop(sqe);
      sqe->user_data = kIgnored;
      return unavailable("{}: io_uring does not take a read: {}", printable(slot.file->path()), errno_text(-submitted));
    }
  }

  std::optional<Completion> take(io_uring_cqe& cqe) {
    const std::uint64_t index = cqe.user_data;
    const int result = cqe.res;
    io_uring_cqe_seen(&ring_, &cqe);
    if (index == kIgnored) return std::nullopt;
    return advance(static_cast<unsigned>(index), result);
  }

  // What a result of the kernel means for its slot: finished, or (nullopt) asked again.
  std::optional<Completion> advance(unsigned index, int result) {
    Slot& slot = slots_[index];
    const bool again = result == -EINTR || result == -EAGAIN;
    if (again && ++slot.retries > kMaxRetries) return finish(index, read_failed(slot, -result));
    if (!again && result < 0) return finish(index, read_failed(slot, -result));
    if (again) {
      pause_before_retry(slot.retries);
    } else {
      const std::uint64_t reached = slot.asked + static_cast<std::uint64_t>(result);
      if (reached >= slot.needed) return finish(index, {});
      if (reached <= slot.done) {
        return finish(index, ends_early(slot.file->path(), slot.offset + slot.done, slot.offset, slot.needed));
      }
      slot.done = reached;
      slot.retries = 0;
    }
    if (Status status = ask(index); !status.ok()) return finish(index, std::move(status));
    return std::nullopt;
  }

  Completion finish(unsigned index, Status status) {
    free_.push_back(index);
    return Completion{slots_[index].tag, std::move(status)};
  }

  static Status read_failed(const Slot& slot, int error) {
    return unavailable("{}: cannot read bytes {} directly: {}", printable(slot.file->path()),
                       to_string(ByteRange{slot.offset + slot.asked, slot.offset + slot.target.size()}),
                       errno_text(error));
  }

  io_uring ring_ = {};
  bool ready_ = false;
  std::vector<Slot> slots_;
  std::vector<unsigned> free_;
};

}  // namespace

Result<std::unique_ptr<Ring>> Ring::create(unsigned depth) {
  if (depth == 0 || depth > kMaxDepth) return invalid_argument("a ring holds 1 to {} reads, not {}", kMaxDepth, depth);
  auto ring = std::make_unique<UringRing>(depth);
  SHARDWISE_RETURN_IF_ERROR(ring->set_up());
  return std::unique_ptr<Ring>(std::move(ring));
}

}  // namespace shardwise
