#include "io/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/aligned_map.h"
#include "base/checked.h"
#include "base/format.h"
#include "io/system_error.h"
#include "shardwise/bytes.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kHugePage = 2_MiB;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, newer than some C libraries

}  // namespace

HugeBuffer::~HugeBuffer() {
  if (data_ != nullptr) ::munmap(data_, size_);  // the kernel rounds the length up to whole pages
}

void populate(std::span<std::byte> memory) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = round_down(reinterpret_cast<std::uintptr_t>(memory.data()), page);
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size();
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite);
}

Result<HugeBuffer> HugeBuffer::create(std::uint64_t size) {
  HugeBuffer buffer;
  if (size == 0) return buffer;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  buffer.data_ = map_aligned(size, size >= kHugePage ? kHugePage : page, Commit::kAccounted);
  if (buffer.data_ == nullptr) {
    return resource_exhausted("cannot map {} ({} bytes) of memory: {}", format_bytes(size), size, errno_text(errno));
  }
  buffer.size_ = size;
  // Advice only: a kernel without huge pages refuses it, and the buffer works all the same. The part behind the last
  // whole huge page is left out, so that no more memory is backed than was asked for.
  if (size >= kHugePage) (void)::madvise(buffer.data_, round_down(size, kHugePage), MADV_HUGEPAGE);
  return buffer;
}

}  // namespace shardwise
