#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "shardwise/bytes.h"
#include "shardwise/file.h"
#include "testing/matchers.h"
#include "testing/refused_descriptors.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OpenFile : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(OpenFile, MissingIsNotFound) {
  EXPECT_THAT(open_file(folder_.path("none")),
              FailsWith(Code::kNotFound, AllOf(HasSubstr("none"), HasSubstr("No such"))));
  EXPECT_THAT(open_file(folder_.write("a", "x") + "/b"), FailsWith(Code::kNotFound));
  EXPECT_THAT(open_file(""), FailsWith(Code::kNotFound));
}

TEST_F(OpenFile, WhatIsNoRegularFileIsRefused) {
  EXPECT_THAT(open_file(folder_.path().string()), FailsWith(Code::kInvalidArgument, "a folder"));
  EXPECT_THAT(open_file("/dev/null"), FailsWith(Code::kInvalidArgument, "a device"));
  ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(open_file(folder_.path("pipe")), FailsWith(Code::kInvalidArgument, "a pipe"));  // and does not hang
  EXPECT_THAT(open_file(std::string("a\0b", 3)), FailsWith(Code::kInvalidArgument, "NUL"));
  EXPECT_THAT(open_file(std::string(5000, 'a')), FailsWith(Code::kInvalidArgument));
}

TEST_F(OpenFile, SocketIsRefused) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  folder_.path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_THAT(open_file(folder_.path("socket")), FailsWith(Code::kInvalidArgument));
  ::close(socket);
}

TEST_F(OpenFile, FollowsLinks) {
  folder_.write("real", "content");
  std::filesystem::create_symlink("real", folder_.path("link"));
  auto file = open_file(folder_.path("link"));
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->size(), 7u);
  EXPECT_EQ((*file)->path(), folder_.path("link"));
  std::filesystem::create_symlink("loop", folder_.path("loop"));
  EXPECT_THAT(open_file(folder_.path("loop")), FailsWith(Code::kInvalidArgument, "loop"));
}

TEST_F(OpenFile, UnreadableIsPermissionDenied) {
  const std::string path = folder_.write("secret", "x");
  ::chmod(path.c_str(), 0);
  Result<std::shared_ptr<const File>> file = internal_error(std::string("not run"));
  // Root may read everything; one thread of it can look at files as somebody else.
  std::thread([&] {
    ::setfsuid(65534);
    file = open_file(path);
  }).join();
  EXPECT_THAT(file, FailsWith(Code::kPermissionDenied, "secret"));
}

TEST_F(OpenFile, DescriptorIsBlockingAndClosedOnExec) {
  auto file = open_file(folder_.write("a", "x"));
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(::fcntl((*file)->descriptor(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::fcntl((*file)->descriptor(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(OpenFile, ClosesItsDescriptor) {
  int descriptor = -1;
  {
    auto file = open_file(folder_.write("a", "x"));
    ASSERT_THAT(file, IsOk());
    descriptor = (*file)->descriptor();
  }
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
}

TEST_F(OpenFile, NoDescriptorLeftIsResourceExhausted) {
  const std::string path = folder_.write("a", "x");
  Status opened;
  if (!call_without_descriptors(EMFILE, [&] { opened = open_file(path).status(); }))
    GTEST_SKIP() << "no filters of system calls here";
  EXPECT_THAT(opened, FailsWith(Code::kResourceExhausted, path));
  EXPECT_THAT(open_file(path), IsOk());
}

TEST_F(OpenFile, FileThatShrinksIsDataLoss) {
  const std::string path = folder_.write("a", std::string(10'000, 'x'));
  auto file = open_file(path);
  ASSERT_THAT(file, IsOk());
  std::filesystem::resize_file(path, 6000);
  std::vector<std::byte> bytes(5000);
  EXPECT_THAT((*file)->read(1000, bytes), IsOk());
  EXPECT_THAT((*file)->read(4000, bytes),
              FailsWith(Code::kDataLoss, AllOf(HasSubstr(path), HasSubstr("[4000, 9000)"), HasSubstr("ends at 6000"),
                                               HasSubstr("changed while it was read"))));
  EXPECT_EQ((*file)->size(), 10'000u);
}

TEST_F(OpenFile, FileThatGrowsKeepsItsSize) {
  const std::string path = folder_.write("a", "0123456789");
  auto file = open_file(path);
  ASSERT_THAT(file, IsOk());
  std::filesystem::resize_file(path, 20);
  std::vector<std::byte> bytes(11);
  EXPECT_THAT((*file)->read(0, bytes), FailsWith(Code::kDataLoss, "ends at 10"));
}

// A read into memory that is not there fails in the kernel with EFAULT: the nearest thing to a bad disk that needs
// none.
TEST_F(OpenFile, FailingReadIsUnavailable) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers look at the target themselves";
#else
  auto file = open_file(folder_.write("a", std::string(100, 'x')));
  ASSERT_THAT(file, IsOk());
  const std::span<std::byte> nowhere(reinterpret_cast<std::byte*>(16), 50);
  EXPECT_THAT((*file)->read(20, nowhere),
              FailsWith(Code::kUnavailable, AllOf(HasSubstr("[20, 70)"), HasSubstr("Bad"))));
#endif
}

// Address space whose every 2 MiB are the same memory, so that large reads cost little.
class FoldedMemory {
 public:
  static constexpr std::uint64_t kFold = 2_MiB;
  explicit FoldedMemory(std::uint64_t size) : size_(size) {
    const int memory = ::memfd_create("folded", MFD_CLOEXEC);
    if (::ftruncate(memory, kFold) != 0) return;
    void* const base = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(base);
    for (std::uint64_t at = 0; at < size_; at += kFold) {
      ::mmap(data_ + at, std::min(kFold, size_ - at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0);
    }
    ::close(memory);
  }
  ~FoldedMemory() { ::munmap(data_, size_); }
  std::span<std::byte> span() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  const std::uint64_t size_;
};

TEST(OpenFileLarge, ReadsMoreThanOneCallMoves) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the shadow of the target takes too long";
#else
  constexpr std::uint64_t kSize = 1_GiB + 5000;
  const TemporaryFolder folder("/dev/shm");  // where holes cost no memory
  const std::string path = folder.write("large", "");
  if (path == "/large") GTEST_SKIP() << "no /dev/shm";
  std::filesystem::resize_file(path, kSize);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  for (const std::uint64_t at : {1_GiB - 1, 1_GiB, kSize - 1}) {
    ASSERT_EQ(::pwrite(descriptor, "!", 1, static_cast<off_t>(at)), 1);
  }
  ::close(descriptor);
  auto file = open_file(path);
  ASSERT_THAT(file, IsOk());
  const FoldedMemory target(kSize);
  ASSERT_THAT((*file)->read(0, target.span()), IsOk());
  for (const std::uint64_t at : {1_GiB - 1, 1_GiB, kSize - 1}) EXPECT_EQ(target.span()[at], std::byte{'!'}) << at;
  EXPECT_EQ(target.span()[1_GiB + 1], std::byte{0});
#endif
}

// Signals without SA_RESTART make calls fail with EINTR, wherever the kernel sleeps.
TEST_F(OpenFile, SignalsDoNotDisturb) {
  struct sigaction quiet = {};
  struct sigaction before = {};
  quiet.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &quiet, &before), 0);
  const std::string content(3'000'001, 'x');
  auto file = open_file(folder_.write("a", content));
  ASSERT_THAT(file, IsOk());
  const pthread_t reader = ::pthread_self();
  std::jthread sender([reader](std::stop_token stop) {
    while (!stop.stop_requested()) {
      ::pthread_kill(reader, SIGUSR1);
      std::this_thread::yield();
    }
  });
  std::string bytes(content.size(), '?');
  for (int i = 0; i < 20; ++i) {
    ::posix_fadvise((*file)->descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    EXPECT_THAT((*file)->read(0, std::as_writable_bytes(std::span(bytes))), IsOk());
  }
  sender.request_stop();
  sender.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(bytes == content);
}

}  // namespace
}  // namespace shardwise
