#include "shardwise/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "testing/dispatch_testing.h"

namespace shardwise {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

std::uint64_t whole_sum(const Bytes& bytes, std::uint64_t width) {
  FingerprintSum sum;
  sum.add(0, bytes, width);
  return sum.sum();
}

TEST(FingerprintSum, IsTheSameForAnyPartitionInAnyOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t width = std::uint64_t{1} << (random() % 5);
    const std::size_t elements = random() % (round % 10 == 0 ? 40000 : 600);
    const Bytes bytes = random_bytes(elements * width, random);
    std::vector<std::size_t> cuts = {0, elements};
    for (std::size_t i = random() % 12; i > 0; --i) cuts.push_back(random() % (elements + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::size_t> parts(cuts.size() - 1);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = i;
    std::shuffle(parts.begin(), parts.end(), random);
    FingerprintSum sums[2];
    for (std::size_t part : parts) {
      const auto span = std::span(bytes).subspan(cuts[part] * width, (cuts[part + 1] - cuts[part]) * width);
      sums[random() % 2].add(cuts[part], span, width);
    }
    sums[0].merge(FingerprintSum::from_sum(sums[1].sum()));
    ASSERT_EQ(sums[0].sum(), whole_sum(bytes, width)) << round;
  }
}

TEST(FingerprintSum, IsTheSameOnEveryInstructionSet) {
  std::mt19937_64 random(4);
  for (std::size_t size : {0u, 1u, 3u, 4u, 31u, 64u, 127u, 4095u, 4096u, 4097u, 30011u}) {
    const Bytes bytes = random_bytes(size, random);
    const std::uint64_t expected = whole_sum(bytes, 1);
    dispatch_testing::for_each_target([&] { ASSERT_EQ(whole_sum(bytes, 1), expected) << size; });
  }
}

TEST(FingerprintSum, SeesEverySingleBit) {
  std::mt19937_64 random(2);
  Bytes bytes = random_bytes(9001, random);
  const std::uint64_t before = whole_sum(bytes, 1);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      const auto flip = static_cast<std::byte>(1 << bit);
      bytes[i] ^= flip;
      if (i < 64 || i > 8900 || i % 97 == 0) {
        ASSERT_NE(whole_sum(bytes, 1), before) << i;
      }
      bytes[i] ^= flip;
    }
  }
}

TEST(FingerprintSum, SeesExchangesAndRotations) {
  std::mt19937_64 random(3);
  for (std::size_t width : {1u, 2u, 4u, 8u, 16u}) {
    const std::size_t elements = 5000;
    const Bytes bytes = random_bytes(elements * width, random);
    const std::uint64_t before = whole_sum(bytes, width);
    const auto at = [&](std::size_t i) { return static_cast<std::ptrdiff_t>(i * width); };
    for (int round = 0; round < 300; ++round) {
      const std::size_t i = random() % elements;
      const std::size_t j = round % 3 == 0 ? (i + 1) % elements : random() % elements;
      Bytes changed = bytes;
      std::swap_ranges(changed.begin() + at(i), changed.begin() + at(i + 1), changed.begin() + at(j));
      if (changed != bytes) {
        ASSERT_NE(whole_sum(changed, width), before) << i << " " << j;
      }
      changed = bytes;
      std::rotate(changed.begin(), changed.begin() + at(1 + i % (elements - 1)), changed.end());
      ASSERT_NE(whole_sum(changed, width), before);
    }
  }
}

TEST(Fingerprint, DependsOnTypeShapeAndLength) {
  std::set<std::uint64_t> values;
  std::size_t count = 0;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{6}, Shape{7}, Shape{2, 3}, Shape{3, 2}, Shape{1, 6},
                             Shape{6, 1}, Shape{6, 0}, Shape{0, 6}}) {
    for (int d = 0; d < kDTypeCount; ++d) {
      values.insert(FingerprintSum().finish(static_cast<DType>(d), shape).value);
      values.insert(FingerprintSum::from_sum(1).finish(static_cast<DType>(d), shape).value);
      count += 2;
    }
  }
  EXPECT_EQ(values.size(), count);
}

TEST(Fingerprint, PrintsSixteenDigits) { EXPECT_EQ(to_string(Fingerprint{0xabc}), "0000000000000abc"); }

}  // namespace
}  // namespace shardwise
