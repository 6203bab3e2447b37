#include "base/aligned_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/checked.h"

namespace shardwise {

std::byte* map_aligned(std::uint64_t size, std::uint64_t alignment, Commit commit) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  if (size == 0 || size > kMost || alignment > kMost) {
    errno = size == 0 ? EINVAL : ENOMEM;
    return nullptr;
  }
  const std::uint64_t kept = round_up(size, page);
  const std::uint64_t reserved = kept + (alignment > page ? alignment - page : 0);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (commit == Commit::kOnTouch ? MAP_NORESERVE : 0);
  void* const mapped = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // Over-reserved by less than one alignment: what lies before and behind the aligned part goes back.
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uint64_t head = round_up(address, alignment) - address;
  const std::uint64_t tail = reserved - head - kept;
  std::byte* const begin = static_cast<std::byte*>(mapped) + head;
  if (head != 0) ::munmap(mapped, head);
  if (tail != 0) ::munmap(begin + kept, tail);
  return begin;
}

}  // namespace shardwise
