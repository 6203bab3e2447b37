#include "io/residency.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "shardwise/file.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

using Probe = std::optional<double> (*)(int, ByteRange);
constexpr Probe kProbes[] = {&resident_share, &resident_share_by_cachestat, &resident_share_by_mincore};

class Residency : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSize = 8_MiB + 100;

  // A file on the disk, written back and dropped from the cache; skips the test where that does not work.
  std::shared_ptr<const File> cold_file() {
    const std::string path = folder_.write("cold", std::string(kSize, 'x'));
    auto file = open_file(path);
    if (!file.ok()) return nullptr;
    const int descriptor = (*file)->descriptor();
    ::fsync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM);  // no read-ahead, so that shares are exact
    return *file;
  }

  TemporaryFolder folder_;
};
class ResidencyBy : public Residency, public ::testing::WithParamInterface<Probe> {};

TEST_P(ResidencyBy, FollowsWhatIsRead) {
  const auto file = cold_file();
  ASSERT_NE(file, nullptr);
  const int descriptor = file->descriptor();
  const auto share = GetParam()(descriptor, {0, kSize});
  if (!share) GTEST_SKIP() << "not on this kernel";
  if (*share > 0) GTEST_SKIP() << "this file system keeps its cache";
  EXPECT_EQ(GetParam()(descriptor, {0, 1}), 0.0);

  std::vector<std::byte> bytes(1_MiB);
  ASSERT_THAT(file->read(2_MiB, bytes), IsOk());
  EXPECT_EQ(GetParam()(descriptor, {2_MiB, 3_MiB}), 1.0);
  EXPECT_EQ(GetParam()(descriptor, {2_MiB + 5, 2_MiB + 6}), 1.0);
  EXPECT_EQ(GetParam()(descriptor, {2_MiB, 4_MiB}), 0.5);
  EXPECT_EQ(GetParam()(descriptor, {0, 2_MiB}), 0.0);
  EXPECT_EQ(GetParam()(descriptor, {4_MiB, kSize}), 0.0);  // asking has read nothing

  bytes.resize(kSize);
  ASSERT_THAT(file->read(0, bytes), IsOk());
  EXPECT_EQ(GetParam()(descriptor, {0, kSize}), 1.0);
  EXPECT_EQ(GetParam()(descriptor, {0, kSize * 2}), 1.0);  // nothing lies beyond the end
}

TEST_P(ResidencyBy, EmptyRangesAreResident) {
  const auto file = cold_file();
  ASSERT_NE(file, nullptr);
  if (!GetParam()(file->descriptor(), {0, 1})) GTEST_SKIP() << "not on this kernel";
  EXPECT_EQ(GetParam()(file->descriptor(), {5, 5}), 1.0);
  EXPECT_EQ(GetParam()(file->descriptor(), {kSize, kSize + 10}), 1.0);
}

TEST_P(ResidencyBy, NoFileNoAnswer) {
  EXPECT_EQ(GetParam()(-1, {0, 10}), std::nullopt);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(GetParam()(ends[0], {0, 10}), std::nullopt);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(ResidencyBy, MemoryFileSystem) {
  const TemporaryFolder memory("/dev/shm");
  auto file = open_file(memory.write("a", std::string(100'000, 'x')));
  if (!file.ok()) GTEST_SKIP() << "no /dev/shm";
  const auto share = GetParam()((*file)->descriptor(), {0, 100'000});
  if (!share) GTEST_SKIP() << "not on this kernel";
  EXPECT_EQ(*share, 1.0);
}

// To those who neither own the file nor may write to it, mincore would say "all resident".
TEST_F(Residency, StrangersGetASample) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const auto file = cold_file();
  ASSERT_NE(file, nullptr);
  ::chmod(file->path().c_str(), 0644);
  ::chmod(folder_.path().c_str(), 0755);
  std::optional<double> by_mincore = 0.5;
  std::optional<double> share;
  std::thread([&] {
    ::syscall(SYS_setresuid, -1, 65534, -1);  // of this thread alone, unlike the C library's function
    by_mincore = resident_share_by_mincore(file->descriptor(), {0, kSize});
    share = resident_share(file->descriptor(), {0, kSize});
  }).join();
  EXPECT_EQ(by_mincore, std::nullopt);
  ASSERT_TRUE(share);
  EXPECT_LT(*share, 0.1);  // cold
}

TEST_F(Residency, SampleEstimates) {
  const auto file = cold_file();
  ASSERT_NE(file, nullptr);
  const int descriptor = file->descriptor();
  const auto exact = resident_share(descriptor, {0, kSize});
  const auto cold = resident_share_by_sample(descriptor, {0, kSize});
  if (!cold) GTEST_SKIP() << "no RWF_NOWAIT here";
  ASSERT_TRUE(exact);
  // Storage that answers at once turns a look into a read: a page in every 32, and what the device reads with it. Such
  // a page counts as found: it is as good as resident.
  EXPECT_GE(*cold, *exact - 0.1);
  EXPECT_LT(*cold, *exact + 0.5);
  const auto after = resident_share(descriptor, {0, kSize});
  ASSERT_TRUE(after);
  EXPECT_LT(*after, *exact + 0.1);
  std::vector<std::byte> bytes(4_MiB);
  ASSERT_THAT(file->read(0, bytes), IsOk());
  const auto half = resident_share(descriptor, {0, kSize});
  ASSERT_TRUE(half);
  EXPECT_GT(*half, 0.45);
  const double estimate = resident_share_by_sample(descriptor, {0, kSize}).value_or(-1);
  EXPECT_GT(estimate, *half - 0.1);
  EXPECT_LT(estimate, *half + 0.4);
  EXPECT_EQ(resident_share_by_sample(descriptor, {1_MiB, 2_MiB}), resident_share(descriptor, {1_MiB, 2_MiB}));
}

TEST_F(Residency, SampleOfLittle) {
  const auto file = open_file(folder_.write("warm", std::string(100, 'x')));
  ASSERT_TRUE(file.ok());
  const int descriptor = (*file)->descriptor();
  if (!resident_share_by_sample(descriptor, {0, 3})) GTEST_SKIP() << "no RWF_NOWAIT here";
  EXPECT_EQ(resident_share_by_sample(descriptor, {0, 3}), 1.0);
  EXPECT_EQ(resident_share_by_sample(descriptor, {7, 7}), 1.0);
  EXPECT_EQ(resident_share_by_sample(-1, {0, 3}), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Ways, ResidencyBy, ::testing::ValuesIn(kProbes));

}  // namespace
}  // namespace shardwise
