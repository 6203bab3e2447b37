#include "io/residency.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "io/descriptor.h"

namespace shardwise {
namespace {

// Number of cachestat(2) on every architecture (Linux 6.5), for headers that do not have it yet.
constexpr long kCachestat = 451;
struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};
struct Cachestat {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

std::uint64_t page_size() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

// The whole pages that the part of the range inside the file touches; empty when there is none.
struct Pages {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
std::optional<Pages> pages_of(int descriptor, ByteRange range) {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const std::uint64_t end = std::min(range.end, static_cast<std::uint64_t>(info.st_size));
  if (range.begin >= end) return Pages{};
  return Pages{round_down(range.begin, page_size()) / page_size(), ceil_div(end, page_size())};
}

// mincore(2) tells strangers "all resident" rather than EPERM; this is the kernel's test of who is one.
bool may_ask(int descriptor) {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) return false;
  if (::geteuid() == 0 || info.st_uid == ::geteuid()) return true;
  return ::eaccess(format("/proc/self/fd/{}", descriptor).c_str(), W_OK) == 0;
}

}  // namespace

std::optional<double> resident_share_by_cachestat(int descriptor, ByteRange range) {
  const auto pages = pages_of(descriptor, range);
  if (!pages) return std::nullopt;
  if (pages->begin == pages->end) return 1.0;
  CachestatRange bytes{pages->begin * page_size(), (pages->end - pages->begin) * page_size()};
  Cachestat counts = {};
  if (::syscall(kCachestat, descriptor, &bytes, &counts, 0) != 0) return std::nullopt;
  // Large folios that reach over the range's ends must not make it more than all.
  const auto share = static_cast<double>(counts.cached) / static_cast<double>(pages->end - pages->begin);
  return std::min(share, 1.0);
}

std::optional<double> resident_share_by_mincore(int descriptor, ByteRange range) {
  const auto pages = pages_of(descriptor, range);
  if (!pages || !may_ask(descriptor)) return std::nullopt;
  if (pages->begin == pages->end) return 1.0;
  constexpr std::uint64_t kWindow = 65536;  // pages mapped at a time: one byte of answer each
  std::vector<unsigned char> resident(std::min(kWindow, pages->end - pages->begin));
  std::uint64_t found = 0;
  for (std::uint64_t page = pages->begin; page < pages->end; page += kWindow) {
    const std::uint64_t count = std::min(kWindow, pages->end - page);
    const std::uint64_t bytes = count * page_size();
    void* const view =
        ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(page * page_size()));
    if (view == MAP_FAILED) return std::nullopt;
    const int failed = ::mincore(view, bytes, resident.data());
    ::munmap(view, bytes);
    if (failed != 0) return std::nullopt;
    const auto last = resident.begin() + static_cast<std::ptrdiff_t>(count);
    found +=
        static_cast<std::uint64_t>(std::count_if(resident.begin(), last, [](auto bits) { return (bits & 1) != 0; }));
  }
  return static_cast<double>(found) / static_cast<double>(pages->end - pages->begin);
}

std::optional<double> resident_share_by_sample(int descriptor, ByteRange range) {
  const auto pages = pages_of(descriptor, range);
  if (!pages) return std::nullopt;
  if (pages->begin == pages->end) return 1.0;
  // A descriptor of its own, so that nobody else's read-ahead changes, and without read-ahead, so that looking at a
  // page fetches no others.
  const Descriptor own(::open(format("/proc/self/fd/{}", descriptor).c_str(), O_RDONLY | O_CLOEXEC));
  if (!own.valid() || ::posix_fadvise(own.get(), 0, 0, POSIX_FADV_RANDOM) != 0) return std::nullopt;
  constexpr std::uint64_t kSamples = 64;
  const std::uint64_t count = pages->end - pages->begin;
  const std::uint64_t samples = std::min(count, kSamples);
  // One page out of each of `samples` equal parts; another one in every call, as a look may bring the page in.
  std::minstd_rand random(static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t first = pages->begin + count / samples * i + std::min(i, count % samples);
    const std::uint64_t part = count / samples + (i < count % samples ? 1 : 0);
    char byte = 0;
    const iovec target{&byte, 1};
    const auto offset = static_cast<off_t>((first + random() % part) * page_size());
    if (::preadv2(own.get(), &target, 1, offset, RWF_NOWAIT) >= 0) {
      ++found;
    } else if (errno != EAGAIN) {
      return std::nullopt;
    }
  }
  return static_cast<double>(found) / static_cast<double>(samples);
}

std::optional<double> resident_share(int descriptor, ByteRange range) {
  if (const auto share = resident_share_by_cachestat(descriptor, range)) return share;
  if (const auto share = resident_share_by_mincore(descriptor, range)) return share;
  return resident_share_by_sample(descriptor, range);
}

}  // namespace shardwise
