#include "cli/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace shardwise::cli {
namespace {

// A signal handler can reach nothing but a global. Written before the handlers are installed, closed after.
int pipe_ends[2] = {-1, -1};

constexpr char kStop = 's';
constexpr char kFinish = 'f';

void on_signal(int) {
  const int saved = errno;
  [[maybe_unused]] const auto written = ::write(pipe_ends[1], &kStop, 1);
  errno = saved;
}

void install(int signal) {
  struct sigaction current {};
  if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the second one meets the default: it kills
  sigaction(signal, &action, nullptr);
}

void restore(int signal) {
  struct sigaction current {};
  if (sigaction(signal, nullptr, &current) == 0 && current.sa_handler == on_signal) ::signal(signal, SIG_DFL);
}

// Requesting a stop runs callbacks, which a signal handler may not: this thread does it.
void watch(std::stop_source source) {
  char command = 0;
  for (;;) {
    const auto got = ::read(pipe_ends[0], &command, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || command == kFinish) return;
    source.request_stop();
  }
}

}  // namespace

Interrupt::Interrupt() {
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return;
  watcher_ = std::thread(watch, source_);
  install(SIGINT);
  install(SIGTERM);
}

Interrupt::~Interrupt() {
  if (!watcher_.joinable()) return;
  restore(SIGINT);
  restore(SIGTERM);
  [[maybe_unused]] const auto written = ::write(pipe_ends[1], &kFinish, 1);
  watcher_.join();
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace shardwise::cli
