#include "io/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/checked.h"
#include "base/format.h"
#include "io/system_error.h"
#include "shardwise/bytes.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kHugePage = 2_MiB;

Status no_memory(std::uint64_t size, int error) {
  return resource_exhausted("cannot map {} ({} bytes) of memory: {}", format_bytes(size), size, errno_text(error));
}

}  // namespace

HugeBuffer::~HugeBuffer() {
  if (data_ != nullptr) ::munmap(data_, size_);  // the kernel rounds the length up to whole pages
}

Result<HugeBuffer> HugeBuffer::create(std::uint64_t size) {
  HugeBuffer buffer;
  if (size == 0) return buffer;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  if (size > kMost) return no_memory(size, ENOMEM);
  const std::uint64_t kept = round_up(size, page);
  const bool huge = kept >= kHugePage;
  const std::uint64_t reserved = huge ? kept + kHugePage - page : kept;
  void* const mapped = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return no_memory(size, errno);
  auto* begin = static_cast<std::byte*>(mapped);
  if (huge) {
    // Over-reserved by less than one huge page: what lies before and behind the aligned part goes back.
    const auto address = reinterpret_cast<std::uintptr_t>(mapped);
    const std::uint64_t head = round_up(address, kHugePage) - address;
    const std::uint64_t tail = reserved - head - kept;
    if (head != 0) ::munmap(begin, head);
    begin += head;
    if (tail != 0) ::munmap(begin + kept, tail);
    // Advice only: a kernel without huge pages refuses it, and the buffer works all the same. The part behind the last
    // whole huge page is left out, so that no more memory is backed than was asked for.
    (void)::madvise(begin, round_down(kept, kHugePage), MADV_HUGEPAGE);
  }
  buffer.data_ = begin;
  buffer.size_ = size;
  return buffer;
}

}  // namespace shardwise
