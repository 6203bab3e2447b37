#include "io/process_memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "io/memory.h"
#include "shardwise/bytes.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kBlock = 64_MiB;
constexpr std::uint64_t kSlack = 8_MiB;

bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

TEST(ProcessMemory, SeesWhatIsTouched) {
  const auto before = process_memory();
  ASSERT_THAT(before, IsOk());
  EXPECT_GT(before->resident, 0u);
  EXPECT_GE(before->peak_resident + kSlack, before->resident);
  EXPECT_NEAR(static_cast<double>(before->resident),
              static_cast<double>(before->anonymous + before->file + before->shared), double{kSlack});

  auto block = HugeBuffer::create(kBlock);
  ASSERT_THAT(block, IsOk());
  const auto mapped = process_memory();
  ASSERT_THAT(mapped, IsOk());
  EXPECT_LT(mapped->anonymous, before->anonymous + kSlack);  // mapped is not resident
  std::memset(block->data(), 1, kBlock);
  const auto touched = process_memory();
  ASSERT_THAT(touched, IsOk());
  EXPECT_GT(touched->anonymous, before->anonymous + kBlock - kSlack);
  EXPECT_GT(touched->resident, before->resident + kBlock - kSlack);
}

TEST(ProcessMemory, PeakStaysUntilReset) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers keep memory of their own";
  {
    auto block = HugeBuffer::create(kBlock);
    ASSERT_THAT(block, IsOk());
    std::memset(block->data(), 1, kBlock);
  }
  const auto high = process_memory();
  ASSERT_THAT(high, IsOk());
  EXPECT_GT(high->peak_resident, high->resident + kBlock - kSlack);

  const Status reset = reset_peak_resident();
  if (!reset.ok()) GTEST_SKIP() << reset.to_string();
  const auto low = process_memory();
  ASSERT_THAT(low, IsOk());
  EXPECT_LT(low->peak_resident, low->resident + kSlack);
}

}  // namespace
}  // namespace shardwise
