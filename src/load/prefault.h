// Prefault: the memory that reads in flight will go to is asked for while they are on their way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "load/targets.h"
#include "plan/windows.h"
#include "shardwise/plan.h"

namespace shardwise {

// Huge pages that somebody has begun to fault in: of two threads that fault the same one, both clear it. A small table
// without locks that forgets; then a page is faulted in twice, which costs a system call. Thread-safe.
class FaultedPages {
 public:
  // False when the huge page with this number was claimed not long ago.
  bool claim(std::uintptr_t page) {
    std::atomic<std::uintptr_t>& place = places_[(page * 0x9E3779B97F4A7C15u) >> (64 - kBits)];
    return place.exchange(page, std::memory_order_relaxed) != page;
  }

 private:
  static constexpr unsigned kBits = 10;
  std::array<std::atomic<std::uintptr_t>, 1u << kBits> places_{};
};

// Of one worker. Fresh memory is cleared at its first touch, and a window of columns goes to as many fresh huge pages
// as there are shards, all at once: meanwhile no reads are asked for. Faulted in while the worker would wait for its
// reads, they cost little. Thread-compatible.
class Prefault {
 public:
  Prefault(const LoadPlan& plan, Targets& targets, FaultedPages& pages)
      : plan_(plan), targets_(targets), pages_(pages) {}

  // `window` is on its way. Precondition: its tensors have buffers.
  void add(const Window& window);
  // `window` has come: what is left of it will be faulted in by what is done with it.
  void drop(const Window& window);
  // Faults in one huge page for the windows on their way; false when there is none left.
  bool step();

 private:
  // What one window needs of one huge page.
  struct Part {
    std::uint32_t file;
    std::uint64_t window;  // where it begins in that file
    std::span<std::byte> memory;
  };
  void add_copy(const Window& window, const Copy& copy, std::uint64_t first, std::uint64_t last);
  void add_memory(const Window& window, std::byte* begin, std::byte* end);

  const LoadPlan& plan_;
  Targets& targets_;
  FaultedPages& pages_;
  std::deque<Part> parts_;
  std::vector<CopyDim> scratch_;
};

}  // namespace shardwise
