#include "codec/filters.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/format.h"
#include "codec/filter_chain.h"
#include "codec/fletcher32.h"
#include "codec/inflate.h"
#include "codec/shuffle.h"

namespace shardwise {
namespace {

using Kind = FilterStep::Kind;

// Where the output of each step goes: the target and up to two halves of the scratch take turns, so that the last one
// lands in the target. A checksum that still stands behind the data makes it too long for the target.
struct Route {
  enum class Place { kTarget, kScratch } place;
  std::uint64_t half;  // of the scratch
  std::uint64_t size;
};

Route route(const FilterChain& chain, std::size_t step, std::uint64_t decoded_bytes) {
  const std::uint64_t before = chain.moves_before(step);
  const std::uint64_t size = decoded_bytes + chain.checksum_bytes_before(step);
  if (size == decoded_bytes && before % 2 == 0) return {Route::Place::kTarget, 0, size};
  return {Route::Place::kScratch, before % 2, size};
}

// Halves of the scratch that are used: their number and the size of each.
struct Halves {
  std::uint64_t first = 0;  // the lowest half in use
  std::uint64_t count = 0;
  std::uint64_t size = 0;
};

Halves find_halves(const FilterChain& chain, std::uint64_t decoded_bytes) {
  bool used[2] = {false, false};
  Halves halves;
  for (std::size_t step = 0; step < chain.size(); ++step) {
    if (!chain.applied(step) || chain.kind(step) == Kind::kFletcher32) continue;
    const Route to = route(chain, step, decoded_bytes);
    if (to.place == Route::Place::kTarget) continue;
    used[to.half] = true;
    halves.size = std::max(halves.size, to.size);
  }
  halves.count = std::uint64_t{used[0]} + std::uint64_t{used[1]};
  halves.first = used[0] ? 0 : 1;
  return halves;
}

// Undoes the steps of one block one after the other. Thread-compatible; borrows everything.
class Decoder {
 public:
  Decoder(const FilterChain& chain, std::span<const std::byte> stored, std::span<std::byte> target,
          std::span<std::byte> scratch)
      : chain_(chain), in_(stored), target_(target), scratch_(scratch), halves_(find_halves(chain, target.size())) {}

  Status run() {
    if (scratch_.size() / std::max<std::uint64_t>(halves_.count, 1) < halves_.size) {
      return internal_error("scratch of {} bytes for a block of {} bytes", scratch_.size(), target_.size());
    }
    if (!chain_.deflated()) {
      const std::uint64_t expected = target_.size() + chain_.checksum_bytes_before(chain_.size());
      if (in_.size() != expected) {
        return data_loss("block of {} stored bytes should have {}", in_.size(), expected);
      }
    }
    for (std::size_t step = chain_.size(); step-- > 0;) {
      if (chain_.applied(step)) SHARDWISE_RETURN_IF_ERROR(undo(step));
    }
    if (in_.data() != target_.data() && !in_.empty()) std::memcpy(target_.data(), in_.data(), in_.size());
    return {};
  }

 private:
  Status undo(std::size_t step) {
    if (chain_.kind(step) == Kind::kFletcher32) return undo_fletcher32();
    const std::span<std::byte> out = output(step);
    if (chain_.kind(step) == Kind::kDeflate) {
      SHARDWISE_RETURN_IF_ERROR(inflate_all(in_, out));
    } else {
      unshuffle(in_, chain_.element_size(step), out);
    }
    in_ = out;
    return {};
  }

  Status undo_fletcher32() {
    if (in_.size() < kFletcher32Bytes) {
      return data_loss("{} stored bytes are too few for a Fletcher-32 checksum", in_.size());
    }
    const auto data = in_.first(in_.size() - kFletcher32Bytes);
    SHARDWISE_RETURN_IF_ERROR(check_fletcher32(fletcher32(data), in_.last<kFletcher32Bytes>()));
    in_ = data;
    return {};
  }

  std::span<std::byte> output(std::size_t step) const {
    const Route to = route(chain_, step, target_.size());
    if (to.place == Route::Place::kTarget) return target_;
    return scratch_.subspan((to.half - halves_.first) * halves_.size, to.size);
  }

  const FilterChain& chain_;
  std::span<const std::byte> in_;
  std::span<std::byte> target_;
  std::span<std::byte> scratch_;
  Halves halves_;
};

}  // namespace

Status decode_block(std::span<const FilterStep> steps, std::uint32_t skipped, std::span<const std::byte> stored,
                    std::span<std::byte> target, std::span<std::byte> scratch) {
  const FilterChain chain(steps, skipped);
  SHARDWISE_RETURN_IF_ERROR(chain.status());
  return Decoder(chain, stored, target, scratch).run();
}

std::uint64_t filter_scratch_bytes(std::span<const FilterStep> steps, std::uint32_t skipped,
                                   std::uint64_t decoded_bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const FilterChain chain(steps, skipped);
  if (!chain.status().ok()) return 0;
  if (decoded_bytes > kMost - chain.checksum_bytes_before(chain.size())) return kMost;
  const Halves halves = find_halves(chain, decoded_bytes);
  return checked_mul(halves.count, halves.size).value_or(kMost);
}

}  // namespace shardwise
