// ProgressBar: how far a load is, on a terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "cli/console.h"
#include "shardwise/load.h"

namespace shardwise::cli {

// " 45% [#########           ] 1.2 GiB of 2.7 GiB  3.4 GiB/s  0:12 left", at most `width` bytes.
std::string progress_line(const std::string& label, const Progress& progress, std::size_t width);

// "0:07", "12:30", "3:02:01".
std::string format_duration(double seconds);

// Draws one line on stderr and wipes it when it goes. Shows nothing when stderr is no terminal, or in JSON format.
// Thread-compatible.
class ProgressBar {
 public:
  ProgressBar(const Console& console, std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // For LoadOptions::progress; null when nothing is to be shown. Must not outlive the bar.
  std::function<void(const Progress&)> callback();

 private:
  void draw(const Progress& progress);
  std::string label_;
  bool shown_ = false;
  bool drawn_ = false;
};

}  // namespace shardwise::cli
