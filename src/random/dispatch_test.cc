// Every instruction set that this processor has gives the bits of the definition, one element at a time.
#include <gtest/gtest.h>

#include <bit>

#include "random/counters.h"
#include "random/float_block.h"
#include "random/random_testing.h"
#include "random/recipe.h"
#include "random/threefry.h"
#include "testing/dispatch_testing.h"

namespace shardwise {
namespace {

using arithmetic::Float32;
using dispatch_testing::for_each_target;

TEST(Dispatch, BitsOfRunsAlsoWhereTheLowWordWraps) {
  constexpr RandomKey kKey = {0x12345678, 0x9abcdef0};
  for_each_target([&] {
    for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 300, (std::uint64_t{7} << 32) - 1024,
                                      (std::uint64_t{1} << 32) - 1, (std::uint64_t{1} << 40) + 5}) {
      for (const std::size_t count :
           {std::size_t{1}, std::size_t{31}, std::size_t{64}, std::size_t{1000}, kRandomBlock}) {
        std::vector<std::uint32_t> narrow(count);
        std::vector<std::uint64_t> wide(count);
        make_bits32(kKey, {.first = first, .count = count}, narrow.data());
        make_bits64(kKey, {.first = first, .count = count}, wide.data());
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(narrow[i], stream_bits32(kKey, first + i)) << first << " + " << i;
          ASSERT_EQ(wide[i], stream_bits64(kKey, first + i)) << first << " + " << i;
        }
      }
    }
  });
}

// One value for each of the 2^23 inputs, on each instruction set, if `step` is 1.
void compare_with_definition(const auto& of, Rounding rounding, std::uint32_t step) {
  const Recipe<Float32> recipe = make_recipe<Float32>(of, rounding);
  std::vector<float> expected;
  for (std::uint32_t fraction = 0; fraction < 1u << 23; fraction += step) expected.push_back(sample(recipe, fraction));
  for_each_target([&] {
    std::vector<std::uint32_t> bits(kRandomBlock);
    std::vector<float> made(kRandomBlock);
    for (std::size_t begin = 0; begin < expected.size(); begin += kRandomBlock) {
      const std::size_t count = std::min(kRandomBlock, expected.size() - begin);
      for (std::size_t i = 0; i < count; ++i) bits[i] = (static_cast<std::uint32_t>(begin + i) * step) << 9;
      make_float32(recipe, bits.data(), count, reinterpret_cast<std::byte*>(made.data()));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(made[i]), std::bit_cast<std::uint32_t>(expected[begin + i]))
            << "fraction " << (begin + i) * step;
      }
    }
  });
}

TEST(Dispatch, NormalOfEveryInput) { compare_with_definition(random::Normal{}, Rounding::kEager, 1); }

TEST(Dispatch, OtherKinds) {
  for (const Rounding rounding : {Rounding::kEager, Rounding::kJit}) {
    compare_with_definition(random::Normal{.stddev = 0.02}, rounding, 61);
    compare_with_definition(random::Normal{.mean = 0.3, .stddev = 1.7}, rounding, 61);
    compare_with_definition(random::TruncatedNormal{}, rounding, 61);
    compare_with_definition(random::TruncatedNormal{.mean = 0.3, .stddev = 1.7}, rounding, 61);
    compare_with_definition(random::TruncatedNormal{.lower = -100, .upper = 100}, rounding, 61);
    compare_with_definition(random::Uniform{}, rounding, 61);
    compare_with_definition(random::Uniform{-0.05, 0.05}, rounding, 61);
    compare_with_definition(random::Uniform{-0.3, 0.7}, rounding, 61);
    compare_with_definition(random::Uniform{1e-30, 3e30}, rounding, 61);
  }
}

}  // namespace
}  // namespace shardwise
