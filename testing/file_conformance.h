// What every File must do. A new backend joins with a type that makes its files, and one line:
//
//   struct MyBackend {
//     // A file that holds `content`; called once per test.
//     std::shared_ptr<const File> make(std::string_view content);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, FileConformance, MyBackend);
//
// Header only; needs gmock. Include it in as many test files as you like.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "shardwise/file.h"
#include "testing/matchers.h"

namespace shardwise {

template <typename Backend>
class FileConformance : public ::testing::Test {
 protected:
  // Bytes without a period that a wrong offset could hide in.
  static std::string random_bytes(std::size_t size, std::uint32_t seed = 1) {
    std::mt19937 random(seed);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() & 0xff);
    return bytes;
  }
  // Reads [offset, offset + count); the status in *status.
  static std::string read(const File& file, std::uint64_t offset, std::size_t count, Status* status) {
    std::string bytes(count, '?');
    *status = file.read(offset, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  static void expect_bytes(const File& file, std::string_view content, std::uint64_t offset, std::size_t count) {
    Status status;
    const std::string bytes = read(file, offset, count, &status);
    ASSERT_THAT(status, IsOk());
    // Not EXPECT_EQ: a failure would print all of it.
    EXPECT_TRUE(bytes == content.substr(offset, count)) << "bytes [" << offset << ", +" << count << ") differ";
  }

  Backend backend;
};
TYPED_TEST_SUITE_P(FileConformance);

TYPED_TEST_P(FileConformance, ReadsWhatItHolds) {
  for (const std::size_t size : {1u, 2u, 511u, 512u, 4095u, 4096u, 4097u, 100'003u}) {
    SCOPED_TRACE(size);
    const std::string content = this->random_bytes(size);
    const auto file = this->backend.make(content);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->size(), size);
    EXPECT_FALSE(file->path().empty());
    this->expect_bytes(*file, content, 0, size);
    this->expect_bytes(*file, content, size - 1, 1);
    this->expect_bytes(*file, content, size / 2, size - size / 2);
  }
}

TYPED_TEST_P(FileConformance, ReadsAnyRange) {
  const std::string content = this->random_bytes(300'007);
  const auto file = this->backend.make(content);
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::size_t offset = random() % content.size();
    const std::size_t count = random() % (i % 10 == 0 ? content.size() - offset + 1 : 64);
    this->expect_bytes(*file, content, offset, std::min(count, content.size() - offset));
  }
}

TYPED_TEST_P(FileConformance, EmptyReadsAreLegalUpToTheEnd) {
  const auto file = this->backend.make("abc");
  Status status;
  for (const std::uint64_t offset : {0u, 1u, 3u}) {
    this->read(*file, offset, 0, &status);
    EXPECT_THAT(status, IsOk()) << offset;
  }
  this->read(*file, 4, 0, &status);
  EXPECT_THAT(status, FailsWith(Code::kDataLoss));
}

TYPED_TEST_P(FileConformance, EmptyFile) {
  const auto file = this->backend.make("");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->size(), 0u);
  Status status;
  this->read(*file, 0, 0, &status);
  EXPECT_THAT(status, IsOk());
  this->read(*file, 0, 1, &status);
  EXPECT_THAT(status, FailsWith(Code::kDataLoss));
}

TYPED_TEST_P(FileConformance, ReadsBeyondTheEndSayWhere) {
  const auto file = this->backend.make(this->random_bytes(100));
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  struct Range {
    std::uint64_t offset;
    std::size_t count;
  };
  for (const Range range : {Range{0, 101}, Range{99, 2}, Range{100, 1}, Range{101, 1}, Range{kMost, 1},
                            Range{kMost - 1, 2}, Range{kMost, 100}, Range{std::uint64_t{1} << 63, 1}}) {
    SCOPED_TRACE(range.offset);
    Status status;
    this->read(*file, range.offset, range.count, &status);
    EXPECT_THAT(status, FailsWith(Code::kDataLoss, file->path()));
    EXPECT_THAT(status.message(), ::testing::HasSubstr(std::to_string(range.offset)));
  }
  Status status;
  this->read(*file, 90, 20, &status);
  EXPECT_THAT(status, FailsWith(Code::kDataLoss, "100"));  // where the file ends
}

TYPED_TEST_P(FileConformance, ManyThreadsReadAtOnce) {
  const std::string content = this->random_bytes(200'003);
  const auto file = this->backend.make(content);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 50; ++i) {
        const std::size_t offset = random() % content.size();
        const std::size_t count = std::min<std::size_t>(random() % 5000, content.size() - offset);
        Status status;
        const std::string bytes = this->read(*file, offset, count, &status);
        if (!status.ok() || bytes != content.substr(offset, count)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// Whoever offers a descriptor promises that its bytes are the file's.
TYPED_TEST_P(FileConformance, DescriptorHoldsTheSameBytes) {
  const std::string content = this->random_bytes(5000);
  const auto file = this->backend.make(content);
  if (file->descriptor() < 0) return;
  std::string bytes(content.size(), '?');
  ASSERT_EQ(::pread(file->descriptor(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(bytes == content);
}

REGISTER_TYPED_TEST_SUITE_P(FileConformance, ReadsWhatItHolds, ReadsAnyRange, EmptyReadsAreLegalUpToTheEnd, EmptyFile,
                            ReadsBeyondTheEndSayWhere, ManyThreadsReadAtOnce, DescriptorHoldsTheSameBytes);

}  // namespace shardwise
