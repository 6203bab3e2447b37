// Segment: a stretch of an arena's address space that knows which of its pages are backed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shardwise/bytes.h"

namespace shardwise::host {

inline constexpr std::uint64_t kHugePage = 2_MiB;

// Whether whole 2 MiB stretches may be backed by huge pages.
enum class HugePages : std::uint8_t { kNever, kAdvise };

// Owns [base, base + size) of virtual memory, a multiple of 2 MiB and aligned to it. Ranges are addresses inside it.
// Thread-compatible.
//
// A page counts as backed from the moment that a block covers it (whoever allocates means to write) until it is given
// back; so the count is an upper bound of what the kernel really backs. To keep it one, huge pages are advised only for
// 2 MiB stretches that live blocks cover completely, and forbidden elsewhere: with "always" as the system's setting,
// one byte of a stretch would back all of it.
class Segment {
 public:
  // nullptr with errno set when the system has no address space for it.
  static std::unique_ptr<Segment> reserve(std::uint64_t size, HugePages huge_pages);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  ByteRange range() const { return {base_, base_ + size_}; }
  std::byte* pointer(std::uint64_t address) const { return data_ + (address - base_); }
  static std::uint64_t page_size();

  // A block at `range` begins to live. Returns how many more pages are backed now.
  std::uint64_t cover(ByteRange range);
  // It ends. Its pages stay backed.
  void uncover(ByteRange range);
  // Backed pages in [first, last), which are page-aligned addresses.
  std::uint64_t backed_pages(ByteRange pages) const;
  // Returns these pages, which no block covers, to the system; they read as zeros when touched again.
  void give_back(ByteRange pages);

 private:
  Segment(std::byte* data, std::uint64_t size, HugePages huge_pages);

  template <typename Visit>
  void each_stretch(ByteRange range, Visit visit);
  void advise(std::size_t first, std::size_t last, HugePages advice);
  std::size_t edges_if(std::size_t first, std::size_t last, HugePages advice) const;

  std::byte* const data_;
  const std::uint64_t base_;  // its address
  const std::uint64_t size_;
  const HugePages huge_pages_;
  std::vector<std::uint64_t> backed_;  // one bit per page
  std::vector<std::uint32_t> live_;    // bytes that live blocks cover, per 2 MiB stretch
  std::vector<HugePages> advice_;      // in force, per 2 MiB stretch
  std::size_t edges_ = 0;              // neighbours that differ in advice: each costs the kernel a mapping
};

}  // namespace shardwise::host
