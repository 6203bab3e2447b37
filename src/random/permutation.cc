// Shuffling as JAX does it: rounds of stable sorting by fresh random words.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/format.h"
#include "random/counters.h"
#include "shardwise/random.h"

namespace shardwise::random {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

// So many that two elements most likely have different words in one of them.
int rounds(std::uint64_t n) {
  const double words = std::log(static_cast<double>(kMost));
  return static_cast<int>(std::ceil(3 * std::log(static_cast<double>(std::max<std::uint64_t>(1, n))) / words));
}

std::vector<std::uint32_t> words(RandomKey key, std::uint64_t n) {
  std::vector<std::uint32_t> out(n);
  for (std::uint64_t first = 0; first < n; first += kRandomBlock) {
    make_bits32(key, {.first = first, .count = std::min<std::uint64_t>(kRandomBlock, n - first)}, out.data() + first);
  }
  return out;
}

}  // namespace

Result<std::vector<std::uint32_t>> permutation(RandomKey key, std::uint64_t n) {
  if (n > kMost) return invalid_argument("a permutation of {} elements: at most {} can be counted", n, kMost);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  // The word above, the place below: sorting these is sorting by word and keeping the order of equal ones.
  std::vector<std::uint64_t> sorted(n);
  std::vector<std::uint32_t> before(n);
  for (int left = rounds(n); left > 0; --left) {
    const std::vector<std::uint32_t> by = words(split_child(key, 1), n);
    key = split_child(key, 0);
    for (std::uint64_t i = 0; i < n; ++i) sorted[i] = (std::uint64_t{by[i]} << 32) | i;
    std::sort(sorted.begin(), sorted.end());
    before.swap(order);
    for (std::uint64_t i = 0; i < n; ++i) order[i] = before[static_cast<std::uint32_t>(sorted[i])];
  }
  return order;
}

Status shuffle(RandomKey key, std::span<std::byte> data, std::uint64_t row_bytes) {
  if (row_bytes == 0 || data.size() % row_bytes != 0) {
    return invalid_argument("{} bytes are no whole number of rows of {} bytes", data.size(), row_bytes);
  }
  SHARDWISE_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> order, permutation(key, data.size() / row_bytes));
  const std::vector<std::byte> before(data.begin(), data.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::memcpy(data.data() + i * row_bytes, before.data() + order[i] * row_bytes, row_bytes);
  }
  return {};
}

}  // namespace shardwise::random
