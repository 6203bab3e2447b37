// For tests: values of a whole tensor, as numbers or as bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "shardwise/initializer.h"
#include "shardwise/random.h"

namespace shardwise::random_testing {

template <typename T>
std::vector<T> range_of(const Generator& generator, std::uint64_t first, std::size_t count) {
  std::vector<T> out(count);
  const Status status = generator.generate_range(first, std::as_writable_bytes(std::span(out)));
  EXPECT_TRUE(status.ok()) << status.to_string();
  return out;
}

template <typename T>
std::vector<T> values(const Generator& generator) {
  return range_of<T>(generator, 0, Box::whole(generator.shape()).elements());
}

template <typename T>
std::vector<T> values(RandomKey key, const random::Distribution& of, const Shape& shape, DType dtype,
                      Rounding rounding = Rounding::kEager) {
  return values<T>(random::make_generator(key, of, shape, dtype, rounding).value_or_throw());
}

template <typename T>
std::vector<T> values(const Initializer& initializer, const Shape& shape, DType dtype,
                      Rounding rounding = Rounding::kEager) {
  return values<T>(make_generator(initializer, shape, dtype, rounding).value_or_throw());
}

}  // namespace shardwise::random_testing
