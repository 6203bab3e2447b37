// Golden values: Random123's known answers for threefry2x32-20, JAX 0.10.2 and CPython 3.11.
#include "shardwise/seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random/threefry.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::uint64_t block(RandomKey key, std::uint64_t counter) {
  const ThreefryBlock out = threefry(key, counter);
  return (std::uint64_t{out.a} << 32) | out.b;
}

TEST(Threefry, KnownAnswers) {
  EXPECT_EQ(block({0, 0}, 0), 0x6b20015999ba4efeu);
  EXPECT_EQ(block({0xffffffff, 0xffffffff}, 0xffffffffffffffffu), 0x1cb996fcbb002be7u);
  EXPECT_EQ(block({0x13198a2e, 0x03707344}, 0x243f6a8885a308d3u), 0xc4923a9c483df7a0u);
}

TEST(Keys, SplitAndFoldIn) {
  EXPECT_THAT(random::split(jax_key(0), 4),
              ElementsAre(RandomKey{1797259609, 2579123966}, RandomKey{928981903, 3453687069},
                          RandomKey{4146024105, 2718843009}, RandomKey{2467461003, 3840466878}));
  EXPECT_EQ(random::split_child(jax_key(0), 2), (RandomKey{4146024105, 2718843009}));
  EXPECT_EQ(random::fold_in(jax_key(0), 4), (RandomKey{2285895361, 433833334}));
  EXPECT_EQ(to_string(keras_key(42)), "[42, 0]");
}

TEST(Streams, TheOriginalModeIsRefusedByName) {
  EXPECT_TRUE(random::parse_stream("threefry_partitionable").ok());
  EXPECT_TRUE(random::parse_stream("threefry2x32").ok());
  const Status original = random::parse_stream("threefry_original").status();
  EXPECT_EQ(original.code(), Code::kUnimplemented);
  EXPECT_THAT(original.message(), HasSubstr("threefry_original"));
  EXPECT_EQ(random::parse_stream("rbg").status().code(), Code::kUnimplemented);
  EXPECT_EQ(random::parse_stream("philox").status().code(), Code::kInvalidArgument);
}

TEST(SeedGenerator, OrderedAndUnordered) {
  SeedGenerator ordered(42);
  EXPECT_EQ(ordered.next(), (RandomKey{42, 0}));
  EXPECT_EQ(ordered.next(), (RandomKey{42, 1}));
  SeedGenerator resumed(ordered.state());
  EXPECT_EQ(resumed.next(), (RandomKey{42, 2}));

  SeedGenerator unordered(42);
  EXPECT_EQ(unordered.next_unordered(), (RandomKey{42, 0}));
  EXPECT_EQ(unordered.next_unordered(), (RandomKey{231641, 5387}));
  EXPECT_EQ(unordered.next_unordered(), (RandomKey{168391, 95987}));
  EXPECT_EQ(unordered.next_unordered(), (RandomKey{58276, 95110}));
}

TEST(PythonRandom, DrawsKerasSeeds) {
  PythonRandom python(1337);
  EXPECT_EQ(python.default_seed(), 663307073u);
  EXPECT_EQ(python.default_seed(), 993786079u);
  EXPECT_EQ(python.default_seed(), 572589546u);
  EXPECT_EQ(python.default_seed(), 762227828u);
}

}  // namespace
}  // namespace shardwise
