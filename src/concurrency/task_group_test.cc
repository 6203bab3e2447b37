#include "concurrency/task_group.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/format.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::HasSubstr;

// Waits for a stop, and fails the test rather than hang when none comes.
Status until_stopped(std::stop_token stop) {
  for (int i = 0; i < 10'000 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return stop.stop_requested() ? cancelled(std::string("stopped")) : internal_error(std::string("no stop came"));
}

TEST(TaskGroup, RunsAllAndIsOk) {
  TaskGroup group;
  std::atomic<int> ran = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(group.start([&](std::stop_token) {
      ++ran;
      return Status();
    }),
                IsOk());
  }
  EXPECT_THAT(group.wait(), IsOk());
  EXPECT_EQ(ran, 20);
  EXPECT_FALSE(group.stop_token().stop_requested());
}

TEST(TaskGroup, EmptyIsOk) {
  TaskGroup group;
  EXPECT_THAT(group.wait(), IsOk());
}

TEST(TaskGroup, FirstErrorStopsTheOthersAndWins) {
  TaskGroup group;
  for (int i = 0; i < 4; ++i) ASSERT_THAT(group.start(until_stopped), IsOk());
  ASSERT_THAT(group.start([](std::stop_token) { return data_loss(std::string("block 7 is bad")); }), IsOk());
  EXPECT_THAT(group.wait(), FailsWith(Code::kDataLoss, "block 7"));
  EXPECT_TRUE(group.stop_token().stop_requested());
  EXPECT_THAT(group.wait(), FailsWith(Code::kDataLoss, "block 7"));  // and stays
}

TEST(TaskGroup, StopsWithItsParent) {
  std::stop_source parent;
  TaskGroup group(parent.get_token());
  ASSERT_THAT(group.start(until_stopped), IsOk());
  parent.request_stop();
  EXPECT_THAT(group.wait(), FailsWith(Code::kCancelled));
}

TEST(TaskGroup, StartsStoppedUnderAStoppedParent) {
  std::stop_source parent;
  parent.request_stop();
  TaskGroup group(parent.get_token());
  EXPECT_TRUE(group.stop_token().stop_requested());
}

TEST(TaskGroup, DoesNotStopItsParent) {
  std::stop_source parent;
  {
    TaskGroup group(parent.get_token());
    group.request_stop();
  }
  EXPECT_FALSE(parent.stop_requested());
}

TEST(TaskGroup, DestructorStopsAndJoins) {
  std::atomic<int> ended = 0;
  {
    TaskGroup group;
    for (int i = 0; i < 4; ++i) {
      ASSERT_THAT(group.start([&](std::stop_token stop) {
        Status status = until_stopped(std::move(stop));
        ++ended;
        return status;
      }),
                  IsOk());
    }
  }
  EXPECT_EQ(ended, 4);
}

TEST(TaskGroup, ExceptionsBecomeErrors) {
  struct Odd {};
  TaskGroup a;
  ASSERT_THAT(a.start([](std::stop_token) -> Status { throw std::runtime_error("bad day"); }), IsOk());
  EXPECT_THAT(a.wait(), FailsWith(Code::kInternal, "bad day"));
  TaskGroup b;
  ASSERT_THAT(b.start([](std::stop_token) -> Status { throw Odd(); }), IsOk());
  EXPECT_THAT(b.wait(), FailsWith(Code::kInternal));
  TaskGroup c;
  ASSERT_THAT(c.start([](std::stop_token) -> Status { throw std::bad_alloc(); }), IsOk());
  EXPECT_THAT(c.wait(), FailsWith(Code::kResourceExhausted));
}

TEST(TaskGroup, WhatATaskHoldsIsGoneAfterWait) {
  auto held = std::make_shared<int>(1);
  TaskGroup group;
  ASSERT_THAT(group.start([copy = held](std::stop_token) { return Status(); }), IsOk());
  ASSERT_THAT(group.wait(), IsOk());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(TaskGroup, GoesOnAfterWait) {
  TaskGroup group;
  std::atomic<int> ran = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(group.start([&](std::stop_token) {
      ++ran;
      return Status();
    }),
                IsOk());
    ASSERT_THAT(group.wait(), IsOk());
  }
  EXPECT_EQ(ran, 3);
}

// Lets the process map no more memory, for as long as it lives.
class FewMappings {
 public:
  FewMappings() {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit tight = before_;
    tight.rlim_cur = 1;  // below what is mapped already: nothing more
    ::setrlimit(RLIMIT_AS, &tight);
  }
  ~FewMappings() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_ = {};
};

TEST(TaskGroup, NoThreadLeftIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space themselves";
#else
  std::atomic<int> ran = 0;
  int started = 0;
  Status status;
  TaskGroup group;
  {
    const FewMappings limit;
    // Stacks of threads that ended may be used again, so it may take some to run out.
    while (status.ok() && started < 1000) {
      status = group.start([&](std::stop_token stop) {
        ++ran;
        return until_stopped(std::move(stop));
      });
      started += status.ok() ? 1 : 0;
    }
  }
  EXPECT_THAT(status, FailsWith(Code::kResourceExhausted, HasSubstr(format("thread {}", started + 1))));
  group.request_stop();
  (void)group.wait();
  EXPECT_EQ(ran, started);
#endif
}

}  // namespace
}  // namespace shardwise
