#include "io/ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/checked.h"
#include "io/descriptor.h"
#include "io/memory.h"
#include "io/memory_file.h"
#include "shardwise/bytes.h"
#include "testing/matchers.h"
#include "testing/refused_descriptors.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string random_bytes(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xff);
  return bytes;
}

// A DirectFile over any descriptor, to see what the Ring makes of it.
class AnyFile final : public DirectFile {
 public:
  AnyFile(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor() const override { return descriptor_; }
  std::uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

 private:
  const int descriptor_;
  const std::uint64_t size_;
  const std::string path_ = "any";
};

// Skips what needs io_uring where there is none.
class RingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto ring = Ring::create(1);
    if (!ring.ok()) GTEST_SKIP() << ring.status().to_string();
  }
  // The file opened for direct I/O; nullptr where its file system has none.
  std::shared_ptr<const DirectFile> direct(const std::string& path) {
    const auto file = open_file(path);
    EXPECT_THAT(file, IsOk());
    if (!file.ok()) return nullptr;
    auto opened = DirectFile::open(**file);
    return opened.ok() ? *opened : nullptr;
  }
  TemporaryFolder folder_;
};

// Reads the file in blocks, in random order, with as many in flight as the ring holds.
void read_all(Ring& ring, unsigned depth, const DirectFile& file, std::uint64_t block, std::span<std::byte> target) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t at = 0; at < file.size(); at += block) offsets.push_back(at);
  std::shuffle(offsets.begin(), offsets.end(), std::mt19937(3));
  std::map<std::uint64_t, int> seen;
  const auto finish_one = [&] {
    auto completion = ring.wait();
    ASSERT_THAT(completion, IsOk());
    EXPECT_THAT(completion->status, IsOk());
    ++seen[completion->tag];
  };
  for (const std::uint64_t at : offsets) {
    if (ring.in_flight() == depth) finish_one();
    const std::uint64_t count = std::min(block, target.size() - at);
    ASSERT_THAT(ring.submit(file, at, target.subspan(at, count), at), IsOk());
  }
  while (ring.in_flight() > 0) finish_one();
  EXPECT_EQ(seen.size(), offsets.size());
  for (const auto& [tag, times] : seen) EXPECT_EQ(times, 1) << tag;
}

void expect_same_as_pread(const std::string& content, const DirectFile& file) {
  for (const unsigned depth : {1u, 2u, 8u, 32u}) {
    for (const std::uint64_t block : {4_KiB, 64_KiB, 1_MiB}) {
      SCOPED_TRACE(::testing::Message() << "depth " << depth << ", block " << block << ", size " << content.size());
      auto ring = Ring::create(depth);
      ASSERT_THAT(ring, IsOk());
      auto target = HugeBuffer::create(round_up(content.size(), kDirectAlignment));
      ASSERT_THAT(target, IsOk());
      read_all(**ring, depth, file, block, target->span());
      EXPECT_TRUE(std::equal(content.begin(), content.end(), reinterpret_cast<const char*>(target->data())));
    }
  }
}

TEST_F(RingTest, ReadsWholeFilesInAnyOrder) {
  for (const std::size_t size : {1u, 511u, 4095u, 4096u, 4097u, 100'001u, 3'000'001u}) {
    const std::string content = random_bytes(size);
    const auto file = direct(folder_.write("file", content));
    if (file == nullptr) GTEST_SKIP() << "no direct I/O on " << folder_.path();
    EXPECT_EQ(file->size(), size);
    EXPECT_EQ(::fcntl(file->descriptor(), F_GETFL) & O_DIRECT, O_DIRECT);
    EXPECT_EQ(::fcntl(file->descriptor(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    expect_same_as_pread(content, *file);
  }
}

TEST_F(RingTest, MemoryFileSystemWorksOrSaysSo) {
  const TemporaryFolder memory("/dev/shm");
  const std::string content = random_bytes(70'001);
  const auto file = open_file(memory.write("a", content));
  if (!file.ok()) GTEST_SKIP() << "no /dev/shm";
  const auto opened = DirectFile::open(**file);  // Linux refuses before 6.6
  if (opened.ok()) {
    expect_same_as_pread(content, **opened);
  } else {
    EXPECT_THAT(opened, FailsWith(Code::kUnimplemented, "O_DIRECT"));
  }
}

TEST_F(RingTest, SeveralFilesInOneRing) {
  const std::string a = random_bytes(4096);
  const std::string b(4096, 'b');
  const auto file_a = direct(folder_.write("a", a));
  const auto file_b = direct(folder_.write("b", b));
  if (file_a == nullptr || file_b == nullptr) GTEST_SKIP() << "no direct I/O";
  auto ring = Ring::create(2);
  ASSERT_THAT(ring, IsOk());
  auto target = HugeBuffer::create(8192);
  ASSERT_THAT(target, IsOk());
  ASSERT_THAT((*ring)->submit(*file_a, 0, target->span().first(4096), 1), IsOk());
  ASSERT_THAT((*ring)->submit(*file_b, 0, target->span().last(4096), 2), IsOk());
  ASSERT_THAT((*ring)->wait(), IsOk());
  ASSERT_THAT((*ring)->wait(), IsOk());
  EXPECT_EQ(std::memcmp(target->data(), a.data(), 4096), 0);
  EXPECT_EQ(std::memcmp(target->data() + 4096, b.data(), 4096), 0);
}

TEST_F(RingTest, RefusesWhatIsNotAligned) {
  auto ring = Ring::create(1);
  ASSERT_THAT(ring, IsOk());
  auto buffer = HugeBuffer::create(3 * 4096);
  ASSERT_THAT(buffer, IsOk());
  const AnyFile file(0, 1_MiB);
  const auto bytes = buffer->span();
  EXPECT_THAT((*ring)->submit(file, 1, bytes.first(4096), 0), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT((*ring)->submit(file, 0, bytes.first(4095), 0), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT((*ring)->submit(file, 0, bytes.subspan(512, 4096), 0), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT((*ring)->submit(file, 0, bytes.first(0), 0), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT((*ring)->submit(file, 1_MiB, bytes.first(4096), 0), FailsWith(Code::kDataLoss, "ends at 1048576"));
  EXPECT_THAT((*ring)->submit(file, ~std::uint64_t{4095}, bytes.first(8192), 0), FailsWith(Code::kDataLoss));
  EXPECT_EQ((*ring)->in_flight(), 0u);
  EXPECT_THAT((*ring)->wait(), FailsWith(Code::kFailedPrecondition));
}

TEST_F(RingTest, RefusesMoreThanItsDepth) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const AnyFile file(reader.get(), 4096);
  auto target = HugeBuffer::create(8192);
  ASSERT_THAT(target, IsOk());
  auto ring = Ring::create(1);
  ASSERT_THAT(ring, IsOk());
  ASSERT_THAT((*ring)->submit(file, 0, target->span().first(4096), 0), IsOk());
  EXPECT_EQ((*ring)->in_flight(), 1u);
  EXPECT_THAT((*ring)->submit(file, 0, target->span().last(4096), 1), FailsWith(Code::kFailedPrecondition));
  writer = Descriptor();  // ends the read in flight
  EXPECT_THAT((*ring)->wait()->status, FailsWith(Code::kDataLoss));
}

TEST_F(RingTest, PollGivesWhatHasFinishedAndNeverBlocks) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const AnyFile file(reader.get(), 4096);
  auto target = HugeBuffer::create(4096);
  ASSERT_THAT(target, IsOk());
  auto ring = Ring::create(1);
  ASSERT_THAT(ring, IsOk());
  auto nothing = (*ring)->poll();
  ASSERT_THAT(nothing, IsOk());
  EXPECT_FALSE(nothing->has_value()) << "nothing was asked for";
  ASSERT_THAT((*ring)->submit(file, 0, target->span(), 7), IsOk());
  nothing = (*ring)->poll();
  ASSERT_THAT(nothing, IsOk());
  EXPECT_FALSE(nothing->has_value()) << "nobody has written";
  writer = Descriptor();  // ends the read in flight
  std::optional<Ring::Completion> completion;
  while (!completion) {
    auto polled = (*ring)->poll();
    ASSERT_THAT(polled, IsOk());
    completion = *std::move(polled);
  }
  EXPECT_EQ(completion->tag, 7u);
  EXPECT_THAT(completion->status, FailsWith(Code::kDataLoss));
  EXPECT_EQ((*ring)->in_flight(), 0u);
}

TEST_F(RingTest, FileThatShrankIsDataLoss) {
  const std::string path = folder_.write("a", random_bytes(50'000));
  const auto file = direct(path);
  if (file == nullptr) GTEST_SKIP() << "no direct I/O";
  std::filesystem::resize_file(path, 10'000);
  auto ring = Ring::create(4);
  ASSERT_THAT(ring, IsOk());
  auto target = HugeBuffer::create(1_MiB);
  ASSERT_THAT(target, IsOk());
  ASSERT_THAT((*ring)->submit(*file, 0, target->span().first(8192), 0), IsOk());
  EXPECT_THAT((*ring)->wait()->status, IsOk());
  ASSERT_THAT((*ring)->submit(*file, 8192, target->span().first(8192), 0), IsOk());  // part of it is left
  EXPECT_THAT((*ring)->wait()->status, FailsWith(Code::kDataLoss, AllOf(HasSubstr(path), HasSubstr("ends at 10000"))));
  ASSERT_THAT((*ring)->submit(*file, 40'960, target->span().first(16384), 0), IsOk());  // nothing
  EXPECT_THAT((*ring)->wait()->status, FailsWith(Code::kDataLoss, "[40960, 50000)"));
}

TEST_F(RingTest, FailedReadIsUnavailable) {
  auto ring = Ring::create(2);
  ASSERT_THAT(ring, IsOk());
  auto target = HugeBuffer::create(4096);
  ASSERT_THAT(target, IsOk());
  const AnyFile none(-1, 8192);
  ASSERT_THAT((*ring)->submit(none, 4096, target->span(), 77), IsOk());
  const auto completion = (*ring)->wait();
  ASSERT_THAT(completion, IsOk());
  EXPECT_EQ(completion->tag, 77u);
  EXPECT_THAT(completion->status, FailsWith(Code::kUnavailable, AllOf(HasSubstr("any"), HasSubstr("[4096, 8192)"))));
}

// A pipe gives what is there, so it makes short reads at will (and takes no notice of offsets).
TEST_F(RingTest, ContinuesShortReads) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  const std::string content = random_bytes(5 * 4096 + 100);
  const AnyFile file(reader.get(), content.size());
  auto target = HugeBuffer::create(6 * 4096);
  ASSERT_THAT(target, IsOk());
  auto ring = Ring::create(2);
  ASSERT_THAT(ring, IsOk());
  ASSERT_THAT((*ring)->submit(file, 0, target->span(), 5), IsOk());
  std::jthread feeder([&] {
    for (std::size_t at = 0; at < content.size(); at += 4096) {
      const std::size_t count = std::min<std::size_t>(4096, content.size() - at);
      EXPECT_EQ(::write(writer.get(), content.data() + at, count), static_cast<ssize_t>(count));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto completion = (*ring)->wait();
  ASSERT_THAT(completion, IsOk());
  EXPECT_THAT(completion->status, IsOk());
  EXPECT_EQ(completion->tag, 5u);
  EXPECT_EQ(std::memcmp(target->data(), content.data(), content.size()), 0);
}

// A descriptor that does not block answers EAGAIN until there is something.
TEST_F(RingTest, AsksAgainAfterEagain) {
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  const AnyFile file(reader.get(), 3);
  auto target = HugeBuffer::create(4096);
  ASSERT_THAT(target, IsOk());
  auto ring = Ring::create(1);
  ASSERT_THAT(ring, IsOk());
  ASSERT_THAT((*ring)->submit(file, 0, target->span(), 0), IsOk());
  std::jthread feeder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(::write(writer.get(), "abc", 3), 3);
  });
  EXPECT_THAT((*ring)->wait()->status, IsOk());
  EXPECT_EQ(std::memcmp(target->data(), "abc", 3), 0);
}

TEST_F(RingTest, DestructorWaitsForReadsInFlight) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  const AnyFile file(reader.get(), 4096);
  auto target = HugeBuffer::create(4096);
  ASSERT_THAT(target, IsOk());
  std::jthread feeder;
  {
    auto ring = Ring::create(1);
    ASSERT_THAT(ring, IsOk());
    ASSERT_THAT((*ring)->submit(file, 0, target->span(), 0), IsOk());
    feeder = std::jthread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(::write(writer.get(), "abc", 3), 3);
    });
  }
  EXPECT_EQ(std::memcmp(target->data(), "abc", 3), 0);  // it has arrived, and nothing will any more
}

TEST(RingCreate, RefusesSillyDepths) {
  EXPECT_THAT(Ring::create(0), FailsWith(Code::kInvalidArgument));
  EXPECT_THAT(Ring::create(1'000'000), FailsWith(Code::kInvalidArgument, "1000000"));
}

TEST(RingCreate, NoDescriptorLeftIsResourceExhausted) {
  const TemporaryFolder folder;
  const auto file = open_file(folder.write("a", "x"));
  ASSERT_THAT(file, IsOk());
  Status ring;
  Status direct_file;
  const bool called = call_without_descriptors(EMFILE, [&] {
    ring = Ring::create(4).status();
    direct_file = DirectFile::open(**file).status();
  });
  if (!called) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_THAT(ring, FailsWith(Code::kResourceExhausted));
  EXPECT_THAT(direct_file, FailsWith(Code::kResourceExhausted));
}

TEST(RingCreate, ForbiddenBySandboxIsUnimplemented) {
  Status ring;
  if (!call_without_descriptors(EPERM, [&] { ring = Ring::create(8).status(); }))
    GTEST_SKIP() << "no filters of system calls here";
  EXPECT_THAT(ring, FailsWith(Code::kUnimplemented, AllOf(HasSubstr("io_uring"), HasSubstr("sandbox"))));
}

TEST(DirectFileOpen, WithoutDescriptorIsUnimplemented) {
  EXPECT_THAT(DirectFile::open(MemoryFile("m", "abc")), FailsWith(Code::kUnimplemented, "no descriptor"));
}

TEST(DirectFileOpen, EmptyFileOpens) {
  const TemporaryFolder folder;
  const auto file = open_file(folder.write("empty", ""));
  ASSERT_THAT(file, IsOk());
  const auto opened = DirectFile::open(**file);
  if (!opened.ok()) GTEST_SKIP() << opened.status().to_string();
  EXPECT_EQ((*opened)->size(), 0u);
}

TEST(DirectFileOpen, FindsTheFileAfterItWasReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "the old one");
  const auto file = open_file(path);
  ASSERT_THAT(file, IsOk());
  struct stat old_one = {};
  ASSERT_EQ(::fstat((*file)->descriptor(), &old_one), 0);
  std::filesystem::remove(path);
  folder.write("a", "the new one");
  const auto opened = DirectFile::open(**file);
  if (!opened.ok()) GTEST_SKIP() << opened.status().to_string();
  struct stat found = {};
  ASSERT_EQ(::fstat((*opened)->descriptor(), &found), 0);
  EXPECT_EQ(found.st_ino, old_one.st_ino);
}

TEST(DirectFileOpen, FileThatShrankIsUnimplemented) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", std::string(10'000, 'x'));
  const auto file = open_file(path);
  ASSERT_THAT(file, IsOk());
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(DirectFile::open(**file), FailsWith(Code::kUnimplemented));
}

}  // namespace
}  // namespace shardwise
