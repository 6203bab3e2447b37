#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/format.h"

namespace shardwise::cli {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr const char* kWipe = "\r\033[K";

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

double share_done(const Progress& progress) {
  if (progress.bytes_total == 0) return 1.0;
  return std::min(1.0, static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total));
}

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, 3.6e8)));
  const std::uint64_t hours = whole / 3600;
  const std::uint64_t minutes = whole / 60 % 60;
  if (hours > 0) return format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return format("{}:{:02}", minutes, whole % 60);
}

std::string progress_line(const std::string& label, const Progress& progress, std::size_t width) {
  const double share = share_done(progress);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  std::string line = format("{} {:3.0f}% [{}{}] {} of {}", label, share * 100, std::string(filled, '#'),
                            std::string(kBarWidth - filled, ' '), format_bytes(progress.bytes_done),
                            format_bytes(progress.bytes_total));
  if (progress.bytes_per_second > 0) {
    line += format("  {}/s  {} left", format_bytes(static_cast<std::uint64_t>(progress.bytes_per_second)),
                   format_duration(progress.seconds_left));
  }
  if (line.size() > width) line.resize(width);
  return line;
}

ProgressBar::ProgressBar(const Console& console, std::string label)
    : label_(std::move(label)), shown_(!console.is_json() && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs(kWipe, stderr);
}

std::function<void(const Progress&)> ProgressBar::callback() {
  if (!shown_) return nullptr;
  return [this](const Progress& progress) { draw(progress); };
}

void ProgressBar::draw(const Progress& progress) {
  // One column stays free: some terminals wrap when the last one is written.
  std::fprintf(stderr, "%s%s", kWipe, progress_line(label_, progress, terminal_width() - 1).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace shardwise::cli
