// Arena: the memory of one simulated device; hands out blocks of a virtual address range and gives pages back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "device/host/segment.h"
#include "shardwise/bytes.h"

namespace shardwise::host {

// Thread-compatible. Blocks are multiples of kGranule and aligned to it. Best fit, lowest address first, neighbours
// coalesced; O(log n) in the number of holes, plus one bit per page of the block.
//
// Address space is not memory: when no hole fits, another segment is reserved, so fragmentation never refuses a block.
class Arena {
 public:
  static constexpr std::uint64_t kGranule = 64;

  // `most` is what the blocks will add up to at most: segments need not be larger.
  Arena(std::uint64_t most, HugePages huge_pages) : most_(most), huge_pages_(huge_pages) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // The address of `size` bytes (a multiple of kGranule, not 0), or nullopt with errno set when the system has no
  // address space left. May throw std::bad_alloc; a hole's addresses may be lost then, but no memory.
  std::byte* allocate(std::uint64_t size);
  // Gives such a block back. Its pages stay backed, for the next block. May throw std::bad_alloc; the block is lost
  // then.
  void free(std::byte* block, std::uint64_t size);

  // Bytes of pages that blocks have covered and that were not given back: no less than what is resident.
  std::uint64_t backed_bytes() const { return backed_pages_ * Segment::page_size(); }
  // Those of them that lie in holes.
  std::uint64_t reclaimable_bytes() const { return reclaimable_pages_ * Segment::page_size(); }
  // Returns pages in holes to the system, highest addresses first, until at least `bytes` are or none is left.
  void give_back(std::uint64_t bytes);

 private:
  struct Hole {
    std::uint64_t size = 0;
    std::uint64_t backed_pages = 0;  // whole pages inside it
  };
  using Holes = std::map<std::uint64_t, Hole>;  // by address

  bool grow(std::uint64_t size);
  Segment& segment_of(std::uint64_t address);
  void insert_hole(std::uint64_t address, Hole hole);
  Hole erase_hole(Holes::iterator at);

  const std::uint64_t most_;
  const HugePages huge_pages_;
  std::map<std::uint64_t, std::unique_ptr<Segment>> segments_;  // by address
  std::uint64_t reserved_ = 0;
  Holes holes_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // {size, address} of every hole
  std::set<std::uint64_t> backed_holes_;                       // addresses of holes with backed pages
  std::uint64_t backed_pages_ = 0;
  std::uint64_t reclaimable_pages_ = 0;
};

}  // namespace shardwise::host
