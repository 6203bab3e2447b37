// Adds the time between its making and its end to a counter.
#pragma once

#include <chrono>

namespace shardwise {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Stopwatch(double& seconds) : seconds_(seconds), start_(Clock::now()) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  const Clock::time_point start_;
};

}  // namespace shardwise
