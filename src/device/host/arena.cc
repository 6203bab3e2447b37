#include "device/host/arena.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/checked.h"
#include "device/host/poison.h"

namespace shardwise::host {
namespace {

constexpr std::uint64_t kMinSegment = 256_MiB;

std::uint64_t page_up(std::uint64_t address) { return round_up(address, Segment::page_size()); }
std::uint64_t page_down(std::uint64_t address) { return round_down(address, Segment::page_size()); }

// Page-aligned range, empty rather than negative.
ByteRange pages(std::uint64_t begin, std::uint64_t end) { return {begin, std::max(begin, end)}; }
ByteRange whole_pages(std::uint64_t begin, std::uint64_t end) { return pages(page_up(begin), page_down(end)); }

}  // namespace

Arena::~Arena() {
  for (const auto& [address, segment] : segments_) unpoison(segment->range());
}

// Reserves a segment for a block that no hole fits. Each is as large as all before it together, so there are few.
bool Arena::grow(std::uint64_t size) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 56;
  if (size > kMost) {
    errno = ENOMEM;
    return false;
  }
  const std::uint64_t wanted = std::min(std::max(kMinSegment, reserved_), std::min(most_, kMost));
  const std::uint64_t needed = round_up(size, kHugePage);
  auto segment = Segment::reserve(std::max(round_up(wanted, kHugePage), needed), huge_pages_);
  if (segment == nullptr) segment = Segment::reserve(needed, huge_pages_);
  if (segment == nullptr) return false;
  const ByteRange range = segment->range();
  segments_.emplace(range.begin, std::move(segment));
  reserved_ += range.size();
  insert_hole(range.begin, Hole{range.size(), 0});
  return true;
}

Segment& Arena::segment_of(std::uint64_t address) { return *std::prev(segments_.upper_bound(address))->second; }

void Arena::insert_hole(std::uint64_t address, Hole hole) {
  holes_.emplace(address, hole);
  by_size_.emplace(hole.size, address);
  if (hole.backed_pages != 0) backed_holes_.insert(address);
  reclaimable_pages_ += hole.backed_pages;
}

Arena::Hole Arena::erase_hole(Holes::iterator at) {
  const auto [address, hole] = *at;
  by_size_.erase({hole.size, address});
  if (hole.backed_pages != 0) backed_holes_.erase(address);
  reclaimable_pages_ -= hole.backed_pages;
  holes_.erase(at);
  return hole;
}

std::byte* Arena::allocate(std::uint64_t size) {
  auto fit = by_size_.lower_bound({size, 0});
  if (fit == by_size_.end()) {
    if (!grow(size)) return nullptr;
    fit = by_size_.lower_bound({size, 0});
  }
  const std::uint64_t begin = fit->second;
  Segment& segment = segment_of(begin);
  Hole hole = erase_hole(holes_.find(begin));
  const std::uint64_t end = begin + size;
  const std::uint64_t hole_end = begin + hole.size;
  if (end != hole_end) {
    const ByteRange gone = pages(page_up(begin), std::min(page_up(end), page_down(hole_end)));
    insert_hole(end, Hole{hole_end - end, hole.backed_pages - segment.backed_pages(gone)});
  }
  backed_pages_ += segment.cover({begin, end});
  unpoison({begin, end});
  return segment.pointer(begin);
}

void Arena::free(std::byte* block, std::uint64_t size) {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  Segment& segment = segment_of(address);
  segment.uncover({address, address + size});
  poison({address, address + size});
  std::uint64_t begin = address;
  std::uint64_t end = address + size;
  std::uint64_t backed = 0;
  auto after = holes_.lower_bound(address);
  if (after != holes_.end() && after->first == end && end != segment.range().end) {
    const Hole hole = erase_hole(after);
    end += hole.size;
    backed += hole.backed_pages;
  }
  auto before = holes_.lower_bound(address);
  if (before != holes_.begin() && address != segment.range().begin) {
    --before;
    if (before->first + before->second.size == address) {
      begin = before->first;
      backed += erase_hole(before).backed_pages;
    }
  }
  // Whole pages of the hole that are in neither of the holes it grew from.
  const ByteRange fresh =
      pages(std::max(page_up(begin), page_down(address)), std::min(page_down(end), page_up(address + size)));
  insert_hole(begin, Hole{end - begin, backed + segment.backed_pages(fresh)});
}

void Arena::give_back(std::uint64_t bytes) {
  const std::uint64_t wanted = ceil_div(bytes, Segment::page_size());
  for (std::uint64_t given = 0; given < wanted && !backed_holes_.empty();) {
    const auto last = std::prev(backed_holes_.end());
    const std::uint64_t address = *last;
    Hole& hole = holes_.find(address)->second;
    segment_of(address).give_back(whole_pages(address, address + hole.size));
    given += hole.backed_pages;
    backed_pages_ -= hole.backed_pages;
    reclaimable_pages_ -= hole.backed_pages;
    hole.backed_pages = 0;
    backed_holes_.erase(last);
  }
}

}  // namespace shardwise::host
