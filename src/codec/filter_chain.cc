#include "codec/filter_chain.h"

#include "base/format.h"
#include "codec/fletcher32.h"

namespace shardwise {
namespace {

using Kind = FilterStep::Kind;
constexpr std::size_t kMaxSteps = 32;  // H5Z_MAX_NFILTERS, and the bits of a filter mask

}  // namespace

Status FilterChain::status() const {
  if (size() > kMaxSteps) return invalid_argument("{} filters; HDF5 allows {}", size(), kMaxSteps);
  bool after_deflate = false;
  for (std::size_t step = 0; step < size(); ++step) {
    if (!applied(step)) continue;
    switch (kind(step)) {
      case Kind::kDeflate:
        if (after_deflate) return unimplemented("a block that was deflated twice");
        after_deflate = true;
        break;
      case Kind::kShuffle:
        if (element_size(step) == 0) return invalid_argument("shuffle filter with elements of 0 bytes");
        if (after_deflate) return unimplemented("a block that was shuffled after it was deflated");
        break;
      case Kind::kFletcher32:
        break;
    }
  }
  return {};
}

std::size_t FilterChain::count_before(std::size_t step, Kind wanted) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < step; ++i) count += applied(i) && kind(i) == wanted;
  return count;
}

std::uint64_t FilterChain::checksum_bytes_before(std::size_t step) const {
  return kFletcher32Bytes * count_before(step, Kind::kFletcher32);
}

std::uint64_t FilterChain::moves_before(std::size_t step) const {
  return count_before(step, Kind::kDeflate) + count_before(step, Kind::kShuffle);
}

bool FilterChain::deflated() const { return count_before(size(), Kind::kDeflate) != 0; }

}  // namespace shardwise
