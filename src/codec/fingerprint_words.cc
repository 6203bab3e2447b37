#include "codec/fingerprint_words.h"

#include <algorithm>
#include <cstring>

#include "codec/inner_product.h"

namespace shardwise {
namespace {

constexpr auto kFactors = fingerprint_word_factors();
constexpr std::size_t kTwoBlocks = 2 * 4 * kFingerprintBlock;  // bytes

static_assert(
    [] {
      auto sorted = kFactors;
      std::sort(sorted.begin(), sorted.end());
      return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    }(),
    "equal factors would hide an exchange of two words");

std::uint64_t factor(std::uint64_t word) {
  return kFactors[word % kFingerprintBlock] * fingerprint_block_factor(word / kFingerprintBlock);
}

// Up to four bytes inside one word.
std::uint64_t partial_word(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::uint32_t word = 0;
  std::memcpy(reinterpret_cast<std::byte*>(&word) + offset % 4, bytes.data(), bytes.size());
  return word * factor(offset / 4);
}

}  // namespace

std::uint64_t weighted_sum(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  if (const std::size_t head = std::min<std::size_t>((4 - offset % 4) % 4, bytes.size()); head != 0) {
    sum += partial_word(offset, bytes.first(head));
    offset += head;
    bytes = bytes.subspan(head);
  }
  const InnerProduct inner_product = find_inner_product();
  const TwoInnerProducts two_inner_products = find_two_inner_products();
  while (bytes.size() >= 4) {
    const std::uint64_t word = offset / 4;
    const std::uint64_t in_block = word % kFingerprintBlock;
    if (in_block == 0 && bytes.size() >= kTwoBlocks) {
      const std::uint64_t block = word / kFingerprintBlock;
      const auto products = two_inner_products(bytes.data(), kFactors.data(), kFingerprintBlock);
      sum += products[0] * fingerprint_block_factor(block) + products[1] * fingerprint_block_factor(block + 1);
      offset += kTwoBlocks;
      bytes = bytes.subspan(kTwoBlocks);
      continue;
    }
    const std::size_t count = std::min<std::size_t>(bytes.size() / 4, kFingerprintBlock - in_block);
    sum += inner_product(bytes.data(), kFactors.data() + in_block, count) *
           fingerprint_block_factor(word / kFingerprintBlock);
    offset += 4 * count;
    bytes = bytes.subspan(4 * count);
  }
  if (!bytes.empty()) sum += partial_word(offset, bytes);
  return sum;
}

}  // namespace shardwise
