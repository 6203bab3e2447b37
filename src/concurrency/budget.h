// Budget: bytes that may be in flight. One waits, never exceeds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "shardwise/status.h"

namespace shardwise {

// Thread-safe. Must outlive its reservations.
class Budget {
 public:
  explicit Budget(std::uint64_t limit);
  ~Budget();

  // Bytes taken from a budget, given back on destruction or release(). Movable.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept { *this = std::move(other); }
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation() { release(); }
    void release();
    std::uint64_t bytes() const { return bytes_; }

   private:
    friend class Budget;
    Reservation(Budget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Waits until `bytes` are free (first come, first served, so that a large request is not starved).
  // Errors: RESOURCE_EXHAUSTED when bytes > limit(); CANCELLED when stop is requested first.
  Result<Reservation> reserve(std::uint64_t bytes, std::stop_token stop = {});
  // Without waiting; nullopt when they are not free now or others wait.
  std::optional<Reservation> try_reserve(std::uint64_t bytes);

  std::uint64_t limit() const;
  std::uint64_t in_use() const;
  std::uint64_t peak() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardwise
