// What every Device must do. A new backend joins with a type that makes a device, and one line:
//
//   struct MyBackend {
//     // A device that may hold `limit` bytes (kUnlimited: as much as it has); called once per test.
//     std::shared_ptr<Device> make(std::uint64_t limit);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, DeviceConformance, MyBackend);
//
// Header only; needs gmock. Include it in as many test files as you like.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "shardwise/bytes.h"
#include "shardwise/device.h"
#include "testing/matchers.h"

namespace shardwise {

template <typename Backend>
class DeviceConformance : public ::testing::Test {
 protected:
  using Bytes = std::vector<std::byte>;

  static Bytes random_bytes(std::size_t size, std::uint32_t seed = 1) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
    return bytes;
  }
  static Status write(Device& device, Buffer& buffer, std::uint64_t offset, std::span<const std::byte> bytes) {
    SHARDWISE_ASSIGN_OR_RETURN(const std::shared_ptr<Event> event, device.copy_from_host(buffer, offset, bytes));
    return event->wait();
  }
  static std::uint64_t rounded(const Device& device, std::uint64_t bytes) {
    const std::uint64_t alignment = device.info().alignment;
    return (bytes + alignment - 1) / alignment * alignment;
  }

  Backend backend;
};
TYPED_TEST_SUITE_P(DeviceConformance);

TYPED_TEST_P(DeviceConformance, TellsWhatItIs) {
  const auto device = this->backend.make(10_MiB);
  ASSERT_NE(device, nullptr);
  const DeviceInfo info = device->info();
  EXPECT_FALSE(device->id().empty());
  EXPECT_EQ(info.id, device->id());
  EXPECT_EQ(info.memory_limit, 10_MiB);
  EXPECT_EQ(info.memory_in_use, 0u);
  EXPECT_GT(info.alignment, 0u);
  EXPECT_EQ(device->memory().limit, 10_MiB);
  EXPECT_EQ(device->memory().peak, 0u);
}

TYPED_TEST_P(DeviceConformance, AccountsExactly) {
  const auto device = this->backend.make(10_MiB);
  std::uint64_t expected = 0;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const std::uint64_t bytes : {1u, 63u, 64u, 65u, 4096u, 100'001u}) {
    auto buffer = device->allocate(bytes);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_EQ((*buffer)->size(), bytes);
    buffers.push_back(*buffer);
    expected += this->rounded(*device, bytes);
    EXPECT_EQ(device->memory().in_use, expected);
    EXPECT_EQ(device->info().memory_in_use, expected);
  }
  EXPECT_EQ(device->memory().peak, expected);
  buffers.clear();
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_EQ(device->memory().peak, expected);
  device->reset_peak();
  EXPECT_EQ(device->memory().peak, 0u);
}

TYPED_TEST_P(DeviceConformance, EmptyBuffersAreLegal) {
  const auto device = this->backend.make(1_MiB);
  auto buffer = device->allocate(0);
  ASSERT_THAT(buffer, IsOk());
  EXPECT_EQ((*buffer)->size(), 0u);
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_THAT(this->write(*device, **buffer, 0, {}), IsOk());
  EXPECT_THAT(device->copy_to_host(**buffer, 0, {}), IsOk());
  std::byte one{};
  EXPECT_THAT(device->copy_to_host(**buffer, 0, std::span(&one, 1)), FailsWith(Code::kInvalidArgument));
}

TYPED_TEST_P(DeviceConformance, LimitIsHard) {
  const auto device = this->backend.make(1_MiB);
  auto most = device->allocate(1_MiB - 1000);
  ASSERT_THAT(most, IsOk());
  const std::uint64_t in_use = device->memory().in_use;
  const auto refused = device->allocate(2000);
  EXPECT_THAT(refused, FailsWith(Code::kResourceExhausted, device->id()));
  for (const std::uint64_t number : {std::uint64_t{2000}, in_use, std::uint64_t{1_MiB}}) {
    EXPECT_THAT(refused.status().message(), ::testing::HasSubstr(std::to_string(number)));
  }
  EXPECT_EQ(device->memory().in_use, in_use);  // what was refused has changed nothing
  EXPECT_EQ(device->memory().peak, in_use);
  most->reset();
  EXPECT_THAT(device->allocate(2000), IsOk());
}

TYPED_TEST_P(DeviceConformance, AbsurdRequestsAreRefused) {
  const auto device = this->backend.make(1_MiB);
  for (const std::uint64_t bytes : {1_MiB + 1, std::uint64_t{1} << 50, kUnlimited - 64, kUnlimited - 1, kUnlimited}) {
    EXPECT_THAT(device->allocate(bytes), FailsWith(Code::kResourceExhausted)) << bytes;
  }
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_THAT(device->allocate(1_MiB), IsOk());
}

// Freeing and allocating in between must not cost what rounding does not.
TYPED_TEST_P(DeviceConformance, AllOfTheLimitCanBeUsed) {
  const auto device = this->backend.make(1_MiB);
  const std::uint64_t alignment = device->info().alignment;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::mt19937 random(5);
  std::uint64_t left = 1_MiB;
  while (left > 0) {
    const std::uint64_t bytes = std::min(left, (1 + random() % 100) * alignment);
    auto buffer = device->allocate(bytes - random() % alignment);  // rounded up to `bytes`
    ASSERT_THAT(buffer, IsOk());
    buffers.push_back(*buffer);
    left -= bytes;
  }
  EXPECT_EQ(device->memory().in_use, 1_MiB);
  EXPECT_THAT(device->allocate(1), FailsWith(Code::kResourceExhausted));
  // Every other one goes; what they held can be used again in one piece.
  std::uint64_t freed = 0;
  for (std::size_t i = 0; i < buffers.size(); i += 2) {
    freed += this->rounded(*device, buffers[i]->size());
    buffers[i].reset();
  }
  EXPECT_THAT(device->allocate(freed + 1), FailsWith(Code::kResourceExhausted));
  EXPECT_THAT(device->allocate(freed), IsOk());
}

TYPED_TEST_P(DeviceConformance, CopiesThereAndBack) {
  const auto device = this->backend.make(10_MiB);
  const auto content = this->random_bytes(300'001);
  auto buffer = device->allocate(content.size());
  ASSERT_THAT(buffer, IsOk());
  // In three parts, the middle one last.
  const std::span<const std::byte> source(content);
  ASSERT_THAT(this->write(*device, **buffer, 0, source.first(1001)), IsOk());
  ASSERT_THAT(this->write(*device, **buffer, 200'000, source.subspan(200'000)), IsOk());
  ASSERT_THAT(this->write(*device, **buffer, 1001, source.subspan(1001, 200'000 - 1001)), IsOk());
  std::vector<std::byte> back(content.size());
  ASSERT_THAT(device->copy_to_host(**buffer, 0, back), IsOk());
  EXPECT_TRUE(back == content);
  std::vector<std::byte> part(77);
  ASSERT_THAT(device->copy_to_host(**buffer, 12'345, part), IsOk());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), content.begin() + 12'345));
}

TYPED_TEST_P(DeviceConformance, CopiesStayInside) {
  const auto device = this->backend.make(1_MiB);
  auto buffer = device->allocate(100);
  ASSERT_THAT(buffer, IsOk());
  std::vector<std::byte> bytes(101);
  const std::span<std::byte> span(bytes);
  struct Range {
    std::uint64_t offset;
    std::size_t count;
  };
  for (const Range range : {Range{0, 101}, Range{1, 100}, Range{100, 1}, Range{101, 0}, Range{kUnlimited, 1},
                            Range{kUnlimited - 50, 101}}) {
    SCOPED_TRACE(range.offset);
    EXPECT_THAT(device->copy_from_host(**buffer, range.offset, span.first(range.count)),
                FailsWith(Code::kInvalidArgument));
    EXPECT_THAT(device->copy_to_host(**buffer, range.offset, span.first(range.count)),
                FailsWith(Code::kInvalidArgument));
  }
  EXPECT_THAT(this->write(*device, **buffer, 100, {}), IsOk());
}

TYPED_TEST_P(DeviceConformance, BuffersDoNotOverlap) {
  const auto device = this->backend.make(10_MiB);
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::mt19937 random(9);
  for (std::uint32_t i = 0; i < 50; ++i) {
    auto buffer = device->allocate(1 + random() % 20'000);
    ASSERT_THAT(buffer, IsOk());
    buffers.push_back(*buffer);
    if (i % 3 == 2) {  // leave holes behind
      buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(random() % buffers.size()));
    }
  }
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    const auto bytes = this->random_bytes(buffers[i]->size(), i);
    ASSERT_THAT(this->write(*device, *buffers[i], 0, bytes), IsOk());
  }
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    std::vector<std::byte> back(buffers[i]->size());
    ASSERT_THAT(device->copy_to_host(*buffers[i], 0, back), IsOk());
    EXPECT_TRUE(back == this->random_bytes(buffers[i]->size(), i)) << "buffer " << i;
  }
}

TYPED_TEST_P(DeviceConformance, HostDataIsAlignedAndTheSame) {
  const auto device = this->backend.make(1_MiB);
  auto buffer = device->allocate(100);
  ASSERT_THAT(buffer, IsOk());
  if ((*buffer)->host_data() == nullptr) return;  // memory that the host cannot address
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*buffer)->host_data()) % device->info().alignment, 0u);
  EXPECT_EQ((*buffer)->host_data(), std::as_const(**buffer).host_data());
  const auto content = this->random_bytes(100);
  ASSERT_THAT(this->write(*device, **buffer, 0, content), IsOk());
  EXPECT_TRUE(std::equal(content.begin(), content.end(), (*buffer)->host_data()));
  EXPECT_NE((*device->allocate(0))->host_data(), nullptr);
}

TYPED_TEST_P(DeviceConformance, BuffersKeepTheirDevice) {
  auto device = this->backend.make(1_MiB);
  const auto content = this->random_bytes(1000);
  auto buffer = device->allocate(content.size());
  ASSERT_THAT(buffer, IsOk());
  ASSERT_THAT(this->write(*device, **buffer, 0, content), IsOk());
  Device* const raw = device.get();
  device.reset();
  this->backend = TypeParam();
  std::vector<std::byte> back(content.size());
  ASSERT_THAT(raw->copy_to_host(**buffer, 0, back), IsOk());
  EXPECT_TRUE(back == content);
}

TYPED_TEST_P(DeviceConformance, KeepingFreedMemoryIsNotUsingIt) {
  const auto device = this->backend.make(1_MiB);
  auto token = device->keep_freed_memory();  // may be null
  for (int i = 0; i < 3; ++i) EXPECT_THAT(device->allocate(1_MiB), IsOk());
  EXPECT_EQ(device->memory().in_use, 0u);
  token.reset();
  EXPECT_THAT(device->allocate(1_MiB), IsOk());
}

TYPED_TEST_P(DeviceConformance, ManyThreadsAtOnce) {
  constexpr std::uint64_t kLimit = 1_MiB;
  const auto device = this->backend.make(kLimit);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<std::shared_ptr<Buffer>> mine;
      for (int i = 0; i < 200; ++i) {
        auto buffer = device->allocate(random() % 50'000);
        if (buffer.ok()) {
          const auto content = this->random_bytes(std::min<std::size_t>((*buffer)->size(), 100), t);
          std::vector<std::byte> back(content.size());
          if (!this->write(*device, **buffer, 0, content).ok()) ++wrong;
          mine.push_back(*buffer);
          if (!device
                   ->copy_to_host(*mine.front(), 0, std::span(back).first(std::min(back.size(), mine.front()->size())))
                   .ok())
            ++wrong;
        } else if (buffer.status().code() != Code::kResourceExhausted) {
          ++wrong;
        }
        if (device->memory().in_use > kLimit) ++wrong;
        if (mine.size() > 5) mine.erase(mine.begin());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_LE(device->memory().peak, kLimit);
}

REGISTER_TYPED_TEST_SUITE_P(DeviceConformance, TellsWhatItIs, AccountsExactly, EmptyBuffersAreLegal, LimitIsHard,
                            AbsurdRequestsAreRefused, AllOfTheLimitCanBeUsed, CopiesThereAndBack, CopiesStayInside,
                            BuffersDoNotOverlap, HostDataIsAlignedAndTheSame, BuffersKeepTheirDevice,
                            KeepingFreedMemoryIsNotUsingIt, ManyThreadsAtOnce);

}  // namespace shardwise
