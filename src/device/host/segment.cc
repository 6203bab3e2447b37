#include "device/host/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/aligned_map.h"
#include "base/checked.h"

namespace shardwise::host {
namespace {

// A process may have 65530 mappings in all; a fragmented segment stops advising before it eats them.
constexpr std::size_t kMaxEdges = 512;

// Calls visit(word index, mask) for the words that hold bits [first, last).
template <typename Visit>
void each_word(std::uint64_t first, std::uint64_t last, Visit visit) {
  while (first < last) {
    const std::uint64_t word = first / 64;
    const std::uint64_t end = std::min(last, (word + 1) * 64);
    const std::uint64_t count = end - first;
    const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    visit(static_cast<std::size_t>(word), ones << (first % 64));
    first = end;
  }
}

}  // namespace

std::uint64_t Segment::page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::unique_ptr<Segment> Segment::reserve(std::uint64_t size, HugePages huge_pages) {
  std::byte* const data = map_aligned(size, kHugePage, Commit::kOnTouch);
  if (data == nullptr) return nullptr;
  try {
    return std::unique_ptr<Segment>(new Segment(data, size, huge_pages));
  } catch (...) {
    ::munmap(data, size);
    throw;
  }
}

Segment::Segment(std::byte* data, std::uint64_t size, HugePages huge_pages)
    : data_(data),
      base_(reinterpret_cast<std::uint64_t>(data)),
      size_(size),
      huge_pages_(huge_pages),
      backed_(ceil_div(size / page_size(), 64)),
      live_(size / kHugePage),
      advice_(size / kHugePage, HugePages::kNever) {
  (void)::madvise(data_, size_, MADV_NOHUGEPAGE);
}

Segment::~Segment() { ::munmap(data_, size_); }

// Calls visit(index, bytes of the range in it) for every 2 MiB stretch that the range touches.
template <typename Visit>
void Segment::each_stretch(ByteRange range, Visit visit) {
  for (std::uint64_t at = range.begin; at < range.end;) {
    const std::uint64_t end = std::min(range.end, round_down(at, kHugePage) + kHugePage);
    visit(static_cast<std::size_t>((at - base_) / kHugePage), static_cast<std::uint32_t>(end - at));
    at = end;
  }
}

std::uint64_t Segment::cover(ByteRange range) {
  std::uint64_t added = 0;
  each_word((range.begin - base_) / page_size(), ceil_div(range.end - base_, page_size()),
            [&](std::size_t word, std::uint64_t mask) {
              added += static_cast<std::uint64_t>(std::popcount(mask & ~backed_[word]));
              backed_[word] |= mask;
            });
  std::size_t first = 0;  // the run of stretches that this block completes
  std::size_t last = 0;
  each_stretch(range, [&](std::size_t stretch, std::uint32_t bytes) {
    live_[stretch] += bytes;
    if (live_[stretch] != kHugePage || advice_[stretch] == HugePages::kAdvise) return;
    if (last != stretch) {
      advise(first, last, HugePages::kAdvise);
      first = stretch;
    }
    last = stretch + 1;
  });
  advise(first, last, HugePages::kAdvise);
  return added;
}

void Segment::uncover(ByteRange range) {
  each_stretch(range, [&](std::size_t stretch, std::uint32_t bytes) { live_[stretch] -= bytes; });
}

std::uint64_t Segment::backed_pages(ByteRange pages) const {
  std::uint64_t count = 0;
  each_word((pages.begin - base_) / page_size(), (pages.end - base_) / page_size(),
            [&](std::size_t word, std::uint64_t mask) {
              count += static_cast<std::uint64_t>(std::popcount(mask & backed_[word]));
            });
  return count;
}

void Segment::give_back(ByteRange pages) {
  each_word((pages.begin - base_) / page_size(), (pages.end - base_) / page_size(),
            [&](std::size_t word, std::uint64_t mask) { backed_[word] &= ~mask; });
  (void)::madvise(pointer(pages.begin), pages.size(), MADV_DONTNEED);
  // The next block may touch these stretches in part.
  std::size_t first = 0;
  std::size_t last = 0;
  each_stretch(pages, [&](std::size_t stretch, std::uint32_t) {
    if (advice_[stretch] == HugePages::kNever) return;
    if (last != stretch) {
      advise(first, last, HugePages::kNever);
      first = stretch;
    }
    last = stretch + 1;
  });
  advise(first, last, HugePages::kNever);
}

// Edges that advising stretches [first, last), all of the other advice now, would leave.
std::size_t Segment::edges_if(std::size_t first, std::size_t last, HugePages advice) const {
  std::size_t edges = edges_;
  if (first > 0) advice_[first - 1] == advice ? --edges : ++edges;
  if (last < advice_.size()) advice_[last] == advice ? --edges : ++edges;
  return edges;
}

// Past the limit of edges, the advice stays as it is: too few huge pages cost speed; too many, until the block that is
// missing comes, memory of at most one stretch.
void Segment::advise(std::size_t first, std::size_t last, HugePages advice) {
  if (first == last || huge_pages_ == HugePages::kNever) return;
  const std::size_t edges = edges_if(first, last, advice);
  if (edges > kMaxEdges && edges > edges_) return;
  edges_ = edges;
  std::fill(advice_.begin() + static_cast<std::ptrdiff_t>(first), advice_.begin() + static_cast<std::ptrdiff_t>(last),
            advice);
  (void)::madvise(pointer(base_ + first * kHugePage), (last - first) * kHugePage,
                  advice == HugePages::kAdvise ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

}  // namespace shardwise::host
