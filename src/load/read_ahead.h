// ReadAhead: windows on their way from files that are not cached.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/memory.h"
#include "io/ring.h"
#include "plan/windows.h"

namespace shardwise {

// Reads windows through a ring, several at once, into slots of its own. Not all slots are in flight: there is room for
// what has arrived and waits to be worked off, so that the next reads are asked for before that work, not after it. (A
// virtual disk reports many reads at once, then idles until more come: asking after the work left it idle for an eighth
// of the time.) Neighbouring windows are one request: disks have a cost per request. Thread-compatible: used by one
// thread.
class ReadAhead {
 public:
  // Memory of one slot: a window, and the blocks of O_DIRECT that it begins and ends in.
  static std::uint64_t slot_bytes(std::uint64_t window);
  // `slots`: at least 1. Errors: RESOURCE_EXHAUSTED, and those of Ring::create() if `with_ring`.
  static Result<std::unique_ptr<ReadAhead>> create(std::uint64_t window, unsigned slots, bool with_ring);

  // Windows that has_room() is about, and that submit() takes at most.
  unsigned stretch() const { return stretch_; }
  // False when it is time to work off what has arrived, or to wait for it.
  bool has_room() const;
  // Starts to read `windows`: of one file, each of at most window bytes. `file` must live as long as this.
  // Precondition: has_room(), 1 to stretch() of them.
  Status submit(const DirectFile& file, std::span<const Window> windows);

  // Collects what has arrived by now.
  Status reap();
  // Waits until something arrives. Precondition: is_busy(), nothing has arrived.
  Status wait();
  // In flight, or not worked off.
  bool is_busy() const { return in_flight_ > 0 || !arrived_.empty(); }
  bool has_arrived() const { return !arrived_.empty(); }
  // The window that arrived first, and its bytes. Valid until pop(). Precondition: has_arrived().
  const Window& front() const;
  std::span<const std::byte> front_bytes();
  void pop();

  // A slot that is not in use, for a read or a piece of work that is done at once. Precondition: has_room().
  std::span<std::byte> scratch();

 private:
  // Windows that follow each other in a file, read by one request into adjacent slots.
  struct Request {
    std::vector<Window> windows;
    unsigned next = 0;  // window to be worked off
  };

  ReadAhead(std::uint64_t window, unsigned slots);
  std::optional<unsigned> find_free(unsigned count) const;
  Status submit_request(const DirectFile& file, std::span<const Window> windows);
  Status arrive(const Ring::Completion& completion);
  std::byte* address(unsigned slot) { return memory_.data() + slot * slot_bytes_; }

  const std::uint64_t slot_bytes_;
  const unsigned stretch_;
  const unsigned most_in_flight_;  // windows
  unsigned in_flight_ = 0;
  std::vector<bool> used_;         // per slot
  std::vector<Request> requests_;  // by first slot
  std::deque<unsigned> arrived_;   // requests, by first slot
  HugeBuffer memory_;
  std::unique_ptr<Ring> ring_;  // after memory_: its destructor waits for reads into it
};

}  // namespace shardwise
