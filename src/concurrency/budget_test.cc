#include "concurrency/budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns once somebody waits in the queue: try_reserve() serves nobody past those who wait.
void await_waiter(Budget& budget) {
  while (auto none = budget.try_reserve(0)) std::this_thread::yield();
}

TEST(Budget, CountsWhatIsLent) {
  Budget budget(100);
  EXPECT_EQ(budget.limit(), 100u);
  {
    auto a = budget.reserve(60);
    ASSERT_THAT(a, IsOk());
    EXPECT_EQ(a->bytes(), 60u);
    auto b = budget.try_reserve(40);
    ASSERT_TRUE(b);
    EXPECT_EQ(budget.in_use(), 100u);
    EXPECT_FALSE(budget.try_reserve(1));
    b->release();
    b->release();  // once is enough
    EXPECT_EQ(budget.in_use(), 60u);
    EXPECT_FALSE(budget.try_reserve(41));
  }
  EXPECT_EQ(budget.in_use(), 0u);
  EXPECT_EQ(budget.peak(), 100u);
}

TEST(Budget, ReservationsMove) {
  Budget budget(100);
  Budget::Reservation kept;
  {
    auto a = budget.reserve(30);
    ASSERT_THAT(a, IsOk());
    kept = std::move(*a);
  }
  EXPECT_EQ(budget.in_use(), 30u);
  Budget::Reservation other = std::move(*budget.try_reserve(20));
  kept = std::move(other);  // gives its own 30 back
  EXPECT_EQ(budget.in_use(), 20u);
  EXPECT_EQ(kept.bytes(), 20u);
  EXPECT_EQ(other.bytes(), 0u);  // NOLINT(bugprone-use-after-move): its state after a move is part of the contract
}

TEST(Budget, RefusesWhatItCanNeverLend) {
  Budget budget(100);
  EXPECT_THAT(budget.reserve(101), FailsWith(Code::kResourceExhausted, AllOf(HasSubstr("101"), HasSubstr("100"))));
  EXPECT_FALSE(budget.try_reserve(~std::uint64_t{0}));
  EXPECT_EQ(budget.in_use(), 0u);
}

TEST(Budget, FullLimitCanBeLent) {
  Budget budget(~std::uint64_t{0});
  auto all = budget.reserve(~std::uint64_t{0});
  EXPECT_THAT(all, IsOk());
  EXPECT_FALSE(budget.try_reserve(1));
}

TEST(Budget, WaitsUntilBytesComeBack) {
  Budget budget(100);
  auto held = budget.try_reserve(60);
  std::atomic<bool> granted = false;
  std::jthread waiter([&] {
    auto mine = budget.reserve(80);
    EXPECT_THAT(mine, IsOk());
    granted = true;
  });
  await_waiter(budget);
  EXPECT_FALSE(granted);
  held->release();
  waiter.join();
  EXPECT_TRUE(granted);
  EXPECT_EQ(budget.peak(), 80u);
}

TEST(Budget, ServesInOrder) {
  Budget budget(100);
  auto held = budget.try_reserve(50);
  std::vector<int> order;
  Budget order_lock(1);  // the budget under test would serve as well, but not to test itself
  const auto note = [&](int who) {
    auto lock = order_lock.reserve(1);
    order.push_back(who);
  };
  std::jthread large([&] {
    auto mine = budget.reserve(90);
    note(1);
  });
  await_waiter(budget);
  std::jthread small([&] {
    auto mine = budget.reserve(20);  // would fit now, but may not overtake
    note(2);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time to overtake, if it could
  EXPECT_EQ(budget.in_use(), 50u);
  held->release();
  large.join();
  small.join();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST(Budget, StopWakesTheWaiterAndServesTheNext) {
  Budget budget(100);
  auto held = budget.try_reserve(50);
  std::stop_source stop;
  std::jthread large([&] { EXPECT_THAT(budget.reserve(90, stop.get_token()), FailsWith(Code::kCancelled)); });
  await_waiter(budget);
  std::jthread small([&] { EXPECT_THAT(budget.reserve(20), IsOk()); });
  stop.request_stop();
  large.join();
  small.join();  // `held` is still there: only the cancelled one stood in its way
  EXPECT_EQ(budget.in_use(), 50u);
}

TEST(Budget, StoppedBeforeIsCancelled) {
  Budget budget(100);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(budget.reserve(1, stop.get_token()), FailsWith(Code::kCancelled));
  EXPECT_EQ(budget.in_use(), 0u);
}

TEST(Budget, ManyThreadsNeverExceedIt) {
  constexpr std::uint64_t kLimit = 1000;
  Budget budget(kLimit);
  std::atomic<std::uint64_t> lent = 0;
  std::atomic<bool> exceeded = false;
  std::stop_source stop;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t bytes = random() % (kLimit + 1);
        auto mine = t % 4 == 0 ? budget.reserve(bytes, stop.get_token()) : budget.reserve(bytes);
        if (!mine.ok()) continue;
        if (lent.fetch_add(bytes) + bytes > kLimit) exceeded = true;
        if (random() % 8 == 0) std::this_thread::yield();
        lent -= bytes;
        if (t == 0 && i == 250) stop.request_stop();
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(budget.in_use(), 0u);
  EXPECT_LE(budget.peak(), kLimit);
}

}  // namespace
}  // namespace shardwise
