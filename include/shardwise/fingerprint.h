// Fingerprint: a checksum of a tensor's values that does not depend on layout, device count or file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shardwise/dtype.h"
#include "shardwise/shape.h"

namespace shardwise {

// 64 bits over dtype, shape and the elements, each weighted by its row-major index: equal tensors have equal
// fingerprints wherever their parts are read, in any order, by any number of threads. It finds damage and mix-ups; it
// is no defence against someone who builds a collision.
struct Fingerprint {
  std::uint64_t value = 0;
  friend bool operator==(Fingerprint, Fingerprint) = default;
};
// 16 hexadecimal digits.
std::string to_string(Fingerprint fingerprint);

// Sum over any parts of a tensor; parts may be added in any order and sums of disjoint parts merge by +.
// Thread-compatible: one accumulator per thread, merged at the end.
class FingerprintSum {
 public:
  // Elements [first_element, first_element + bytes.size() / width) of a byte-sized dtype. For sub-byte types use the
  // bytes of the packed tensor as uint8 (width 1).
  void add(std::uint64_t first_element, std::span<const std::byte> bytes, std::uint64_t width);
  void merge(const FingerprintSum& other) { sum_ += other.sum_; }
  // Raw sum, to keep in an atomic; from_sum() is its reverse.
  std::uint64_t sum() const { return sum_; }
  static FingerprintSum from_sum(std::uint64_t sum) {
    FingerprintSum f;
    f.sum_ = sum;
    return f;
  }
  // The fingerprint, once every element was added exactly once.
  Fingerprint finish(DType dtype, const Shape& shape) const;

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace shardwise
