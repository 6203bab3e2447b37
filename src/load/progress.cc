#include "load/progress.h"

#include <cmath>

namespace shardwise {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr double kMemorySeconds = 2;  // how far back the rate looks

double seconds_between(std::chrono::steady_clock::time_point a, std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

ProgressMeter::ProgressMeter(const LoadPlan& plan, const LoadOptions& options, const Targets& targets)
    : options_(options),
      targets_(targets),
      total_(plan.reads_total.bytes + plan.generated_bytes),
      tensors_(plan.tensors.size()),
      start_(Clock::now()),
      last_(start_) {}

Status ProgressMeter::add(std::uint64_t bytes) {
  done_.fetch_add(bytes, std::memory_order_relaxed);
  if (!options_.progress) return Status();
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return Status();
  const Clock::time_point now = Clock::now();
  if (now - last_ >= kInterval) report(now);
  return Status();
}

void ProgressMeter::finish() {
  if (!options_.progress) return;
  std::lock_guard lock(mutex_);
  report(Clock::now());
}

double ProgressMeter::seconds() const { return seconds_between(start_, Clock::now()); }

void ProgressMeter::report(Clock::time_point now) {
  Progress progress;
  progress.bytes_done = done_;
  progress.bytes_total = total_;
  progress.tensors_done = targets_.tensors_done();
  progress.tensors_total = tensors_;
  progress.seconds = seconds_between(start_, now);
  const double step = seconds_between(last_, now);
  if (step > 0) {
    const double current = static_cast<double>(progress.bytes_done - last_done_) / step;
    const double weight = last_done_ == 0 ? 1 : 1 - std::exp(-step / kMemorySeconds);
    rate_ += weight * (current - rate_);
  }
  progress.bytes_per_second = rate_;
  if (rate_ > 0) progress.seconds_left = static_cast<double>(total_ - progress.bytes_done) / rate_;
  last_ = now;
  last_done_ = progress.bytes_done;
  options_.progress(progress);
}

}  // namespace shardwise
