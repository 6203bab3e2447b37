// call_without_descriptors: code that runs where the system gives no file descriptor.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <iterator>
#include <thread>

namespace shardwise {

// From here on openat and io_uring_setup answer `error` in the calling thread, as container run-times do it. False
// where filters of system calls are not to be had. A limit of descriptors would refuse more: a sanitizer's own to
// itself.
inline bool refuse_descriptors(unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Calls `action` in a thread of its own that is refused descriptors with `error`, and waits for it. False, without the
// call, where that cannot be had.
template <typename Action>
bool call_without_descriptors(unsigned error, const Action& action) {
  bool called = false;
  std::thread([&] {
    called = refuse_descriptors(error);
    if (called) action();
  }).join();
  return called;
}

}  // namespace shardwise
