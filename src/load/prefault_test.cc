#include "load/prefault.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/memory.h"
#include "load/load_testing.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

// One float32 tensor of 512 by 4096 (8 MiB), split by `layout` over four host devices, with its buffers.
class PrefaultTest : public ::testing::Test {
 protected:
  void start(const TensorLayout& layout, DType dtype = DType::kFloat32, Shape shape = {512, 4096},
             std::optional<View> view = std::nullopt) {
    checkpoint_.add("t", DType::kFloat32, shape);
    const DeviceMesh mesh({4}, {"model"}, host_devices(4));
    LayoutMap layouts(mesh);
    layouts.set("t", layout);
    const std::vector<VariableSpec> variables = {{"t", "t", dtype, view, {}}};
    auto plan = make_plan(bind(checkpoint_.finish(), ModelParallel(layouts), {.variables = variables}));
    ASSERT_THAT(plan, IsOk());
    plan_ = std::move(*plan);
    targets_ = std::make_unique<Targets>(*plan_, options_);
    ASSERT_THAT(targets_->begin(), IsOk());
    WindowCursor cursor(*plan_);
    for (Window window; cursor.next(window);) windows_.push_back(window);
    ASSERT_GT(windows_.size(), 4u);
  }

  // Share of a shard's pages that are backed.
  double backed(std::uint32_t shard) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    Buffer& buffer = targets_->buffer(shard, 0);
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.host_data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(buffer.host_data()) + buffer.size();
    std::vector<unsigned char> pages((end - begin + page - 1) / page);
    EXPECT_EQ(::mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()), 0);
    return static_cast<double>(std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; })) /
           static_cast<double>(pages.size());
  }

  static bool kernel_populates() {
    auto memory = HugeBuffer::create(4_KiB);
    populate(memory->span());
    unsigned char page = 0;
    return ::mincore(memory->data(), 4_KiB, &page) == 0 && (page & 1) != 0;
  }

  MemoryCheckpoint checkpoint_{3};
  LoadOptions options_;
  std::optional<LoadPlan> plan_;
  std::unique_ptr<Targets> targets_;
  FaultedPages pages_;
  std::vector<Window> windows_;
};

TEST_F(PrefaultTest, AllThatWindowsOfColumnsGoTo) {
  if (!kernel_populates()) GTEST_SKIP() << "MADV_POPULATE_WRITE: Linux 5.14";
  start({{}, "model"});
  Prefault prefault(*plan_, *targets_, pages_);
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(backed(s), 0) << s;
  prefault.add(windows_.front());
  unsigned steps = 0;
  while (prefault.step()) ++steps;
  EXPECT_GE(steps, 4u);  // a page in each shard
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_GT(backed(s), 0) << s;
  for (const Window& window : windows_) prefault.add(window);
  while (prefault.step()) {
  }
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(backed(s), 1) << s;
}

TEST_F(PrefaultTest, OfRowsOnlyTheShardThatComes) {
  if (!kernel_populates()) GTEST_SKIP() << "MADV_POPULATE_WRITE: Linux 5.14";
  start({"model"}, DType::kFloat64);  // twice as large as in the file
  Prefault prefault(*plan_, *targets_, pages_);
  prefault.add(windows_.front());
  while (prefault.step()) {
  }
  EXPECT_GT(backed(0), 0);
  for (std::uint32_t s = 1; s < 4; ++s) EXPECT_EQ(backed(s), 0) << s;
  for (const Window& window : windows_) prefault.add(window);
  while (prefault.step()) {
  }
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(backed(s), 1) << s;
}

TEST_F(PrefaultTest, NothingForWindowsThatHaveCome) {
  start({{}, "model"});
  Prefault prefault(*plan_, *targets_, pages_);
  prefault.add(windows_[0]);
  prefault.drop(windows_[1]);
  EXPECT_TRUE(prefault.step());
  prefault.drop(windows_[0]);
  EXPECT_FALSE(prefault.step());
}

TEST_F(PrefaultTest, NothingForPiecesAllOverAShard) {
  start({{}, {}}, DType::kFloat32, {1280, 4096}, *View::of({1280, 4096}).transpose({1, 0}));  // a shard of 20 MiB
  Prefault prefault(*plan_, *targets_, pages_);
  for (const Window& window : windows_) prefault.add(window);
  EXPECT_FALSE(prefault.step());
}

TEST_F(PrefaultTest, APageIsFaultedInByOneWorker) {
  start({{}, "model"});
  Prefault first(*plan_, *targets_, pages_);
  Prefault second(*plan_, *targets_, pages_);
  first.add(windows_[0]);
  second.add(windows_[0]);
  EXPECT_FALSE(second.step());
  EXPECT_TRUE(first.step());
}

}  // namespace
}  // namespace shardwise
