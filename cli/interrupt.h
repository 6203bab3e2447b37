// Interrupt: Ctrl-C as a request to stop.
#pragma once

#include <stop_token>
#include <thread>

namespace shardwise::cli {

// While it lives, the first SIGINT or SIGTERM requests a stop and the second one kills the process, as if nothing had
// been installed. A signal that was ignored when the process started stays ignored. One instance at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::thread watcher_;
};

}  // namespace shardwise::cli
