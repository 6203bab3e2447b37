// Mutex and MutexLock: std::mutex with clang's thread-safety annotations, so that a build with -Wthread-safety proves
// that guarded members are only touched under their lock (libstdc++'s own mutex carries no annotations).
#pragma once

#include <mutex>

#if defined(__clang__)
#define SHARDWISE_THREAD_ANNOTATION_(x) __attribute__((x))
#else
#define SHARDWISE_THREAD_ANNOTATION_(x)
#endif
// The member is only read and written with the mutex held.
#define SHARDWISE_GUARDED_BY(mutex) SHARDWISE_THREAD_ANNOTATION_(guarded_by(mutex))
// The function is only called with the mutex held.
#define SHARDWISE_REQUIRES(mutex) SHARDWISE_THREAD_ANNOTATION_(requires_capability(mutex))

namespace shardwise {

// Thread-safe.
class SHARDWISE_THREAD_ANNOTATION_(capability("mutex")) Mutex {
 public:
  void lock() SHARDWISE_THREAD_ANNOTATION_(acquire_capability()) { mutex_.lock(); }
  void unlock() SHARDWISE_THREAD_ANNOTATION_(release_capability()) { mutex_.unlock(); }
  // Tells the analysis, inside a lambda that a locked function calls, that the mutex is held. Does nothing.
  void assert_held() const SHARDWISE_THREAD_ANNOTATION_(assert_capability(this)) {}

 private:
  std::mutex mutex_;
};

// Holds a mutex for a scope. lock() and unlock() are there for std::condition_variable_any alone, which leaves it
// locked.
class SHARDWISE_THREAD_ANNOTATION_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SHARDWISE_THREAD_ANNOTATION_(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() SHARDWISE_THREAD_ANNOTATION_(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() SHARDWISE_THREAD_ANNOTATION_(no_thread_safety_analysis) { mutex_.lock(); }
  void unlock() SHARDWISE_THREAD_ANNOTATION_(no_thread_safety_analysis) { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace shardwise
