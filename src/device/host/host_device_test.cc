#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "testing/device_conformance.h"

namespace shardwise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<Device> host_device(const HostDeviceOptions& options) { return host_devices(1, options)[0].device; }

struct HostBackend {
  std::shared_ptr<Device> make(std::uint64_t limit) { return host_device({.memory = limit}); }
};
struct SmallPagesBackend {
  std::shared_ptr<Device> make(std::uint64_t limit) { return host_device({.memory = limit, .huge_pages = false}); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Host, DeviceConformance, HostBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(HostSmallPages, DeviceConformance, SmallPagesBackend);

TEST(HostDevices, AreNumberedAndSeparate) {
  const DeviceList devices = host_devices(3, {.memory = 1_MiB});
  ASSERT_EQ(devices.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(devices[i].info.id, "host:" + std::to_string(i));
    EXPECT_EQ(devices[i].device->id(), devices[i].info.id);
    EXPECT_EQ(devices[i].info.memory_limit, 1_MiB);
    EXPECT_EQ(devices[i].info.alignment, 64u);
  }
  auto full = devices[0].device->allocate(1_MiB);
  ASSERT_THAT(full, IsOk());
  EXPECT_EQ(devices[1].device->memory().in_use, 0u);
  EXPECT_THAT(devices[1].device->allocate(1_MiB), IsOk());
  EXPECT_THAT(host_devices(0), ::testing::IsEmpty());
}

TEST(HostDevices, BuffersOfAnotherDeviceAreRefused) {
  const DeviceList devices = host_devices(2);
  auto buffer = devices[0].device->allocate(10);
  ASSERT_THAT(buffer, IsOk());
  std::byte one{};
  EXPECT_THAT(devices[1].device->copy_from_host(**buffer, 0, std::span(&one, 1)),
              FailsWith(Code::kInvalidArgument, "host:1: the buffer belongs to another device"));
  EXPECT_THAT(devices[1].device->copy_to_host(**buffer, 0, std::span(&one, 1)), FailsWith(Code::kInvalidArgument));
}

TEST(HostDevices, RefusalSaysWhatToDo) {
  const DeviceList devices = host_devices(4, {.memory = 64_MiB});
  auto held = devices[3].device->allocate(32_MiB);
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(
      devices[3].device->allocate(49'152'000),
      FailsWith(Code::kResourceExhausted,
                AllOf(HasSubstr("host:3: cannot allocate 46.9 MiB (49152000 bytes wanted, 33554432 bytes in use, "
                                "limit 67108864 bytes"),
                      HasSubstr("over more devices"))));
}

TEST(HostDevices, RoundingCountsAgainstTheLimit) {
  const auto device = host_device({.memory = 100});
  EXPECT_THAT(device->allocate(100), FailsWith(Code::kResourceExhausted, "rounded up to a multiple of 64"));
  EXPECT_THAT(device->allocate(64), IsOk());
}

TEST(HostDevices, UnlimitedOnesStopAtAddressSpace) {
  const auto device = host_device({});
  EXPECT_EQ(device->memory().limit, kUnlimited);
  EXPECT_THAT(device->allocate(std::uint64_t{1} << 60), FailsWith(Code::kResourceExhausted, "host:0"));
  EXPECT_THAT(device->allocate(kUnlimited), FailsWith(Code::kResourceExhausted));
  EXPECT_THAT(device->allocate(1000), IsOk());
  EXPECT_EQ(device->memory().in_use, 0u);
}

TEST(HostDevices, AHundredThousandSmallTensorsEach) {
  const DeviceList devices = host_devices(2, {.memory = 1_GiB});
  for (const MeshDevice& device : devices) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    buffers.reserve(100'000);
    std::mt19937 random(1);
    for (int i = 0; i < 100'000; ++i) {
      auto buffer = device.device->allocate(1 + random() % 1000);
      ASSERT_THAT(buffer, IsOk());
      buffers.push_back(*std::move(buffer));
    }
    // Freed in random order, so that holes are many before they meet.
    std::shuffle(buffers.begin(), buffers.end(), random);
    for (auto& buffer : buffers) buffer.reset();
    EXPECT_EQ(device.device->memory().in_use, 0u);
  }
}

// A fresh device holds any set of buffers that adds up to its limit, whatever their order.
TEST(HostDevices, HoldExactlyTheirLimit) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> sizes;
    std::uint64_t sum = 0;
    for (int i = 0; i < 200; ++i) {
      sizes.push_back(1 + random() % (i % 20 == 0 ? 20'000'000 : 50'000));
      sum += (sizes.back() + 63) / 64 * 64;
    }
    const auto device = host_device({.memory = sum});
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (const std::uint64_t size : sizes) {
      auto buffer = device->allocate(size);
      ASSERT_THAT(buffer, IsOk());
      buffers.push_back(*buffer);
    }
    EXPECT_EQ(device->memory().in_use, sum);
    EXPECT_THAT(device->allocate(1), FailsWith(Code::kResourceExhausted, "0 bytes are free"));
  }
}

// ---- What is resident ---------------------------------------------------------------------------------------------

bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

// Anonymous bytes resident in this process, counted page by page by the kernel (the counters of /proc/self/status lag).
std::uint64_t anonymous_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    unsigned long kilobytes = 0;
    if (std::sscanf(line.c_str(), "Anonymous: %lu kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

// Each measures a process of its own state: skipped where that says nothing.
class HostResidency : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (is_sanitized()) GTEST_SKIP() << "sanitizers keep memory of their own";
    if (anonymous_bytes() == 0) GTEST_SKIP() << "no /proc/self/smaps_rollup";
    base_ = anonymous_bytes();
  }
  std::shared_ptr<Device> make(std::uint64_t limit) { return host_device({.memory = limit, .huge_pages = GetParam()}); }
  std::shared_ptr<Buffer> filled(Device& device, std::uint64_t size) {
    auto buffer = device.allocate(size);
    EXPECT_THAT(buffer, IsOk());
    std::memset((*buffer)->host_data(), 1, size);
    return *buffer;
  }
  // Resident memory above that of the test's beginning; the tests' own books and malloc's appetite are in it.
  std::uint64_t grown() const {
    const std::uint64_t now = anonymous_bytes();
    return now > base_ ? now - base_ : 0;
  }
  // An arena keeps up to 1 MiB; the rest is for the test itself.
  static constexpr std::uint64_t kSlack = 2_MiB;

 private:
  std::uint64_t base_ = 0;
};

TEST_P(HostResidency, FreedMemoryGoesBack) {
  const auto device = make(kUnlimited);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(filled(*device, 10'000'000));
  EXPECT_GT(grown(), 100'000'000 - kSlack);
  EXPECT_LT(grown(), 100'000'000 + kSlack);
  buffers.resize(5);
  EXPECT_LT(grown(), 50'000'000 + kSlack);  // others live still
  buffers.clear();
  EXPECT_LT(grown(), kSlack);  // the device does
}

TEST_P(HostResidency, NothingIsBackedBeforeItIsTouched) {
  const auto device = make(1_GiB);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 64; ++i) buffers.push_back(*device->allocate(16_MiB));
  EXPECT_LT(grown(), kSlack);
}

// The order of a load: all is allocated, then filled; tensors of all sizes, none of them a multiple of a page.
TEST_P(HostResidency, IsNoMoreThanAccounted) {
  const DeviceList devices = host_devices(8, {.memory = 64_MiB, .huge_pages = GetParam()});
  std::mt19937 random(11);
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::uint64_t accounted = 0;
  for (const MeshDevice& device : devices) {
    while (true) {
      auto buffer = device.device->allocate(1 + random() % (random() % 4 == 0 ? 9'000'000 : 300'000));
      if (!buffer.ok()) break;
      buffers.push_back(*buffer);
    }
    accounted += device.device->memory().in_use;
  }
  std::shuffle(buffers.begin(), buffers.end(), random);
  for (const auto& buffer : buffers) std::memset(buffer->host_data(), 1, buffer->size());
  EXPECT_GT(accounted, 8 * 50_MiB);
  EXPECT_GT(grown() + kSlack, accounted);
  EXPECT_LT(grown(), accounted + 8 * kSlack);
}

// Arrays come and go in all sizes and orders; what is resident follows what is in use.
TEST_P(HostResidency, FollowsWhatIsInUse) {
  const auto device = make(128_MiB);
  std::mt19937 random(12);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 600; ++i) {
    auto buffer = device->allocate(1 + random() % (random() % 8 == 0 ? 12'000'000 : 400'000));
    if (buffer.ok()) {
      std::memset((*buffer)->host_data(), 1, (*buffer)->size());
      buffers.push_back(*buffer);
    }
    if (!buffer.ok() || random() % 3 == 0) {
      for (std::size_t n = random() % (buffers.size() + 1); n > 0; --n) {
        std::swap(buffers[random() % buffers.size()], buffers.back());
        buffers.pop_back();
      }
    }
    if (i % 50 == 0) {
      // Pages that a block shares with a hole stay: at most two per block.
      ASSERT_LT(grown(), device->memory().in_use + kSlack + buffers.size() * 8192) << i;
    }
  }
  buffers.clear();
  EXPECT_LT(grown(), kSlack);
}

// A load that drops arrays as it goes: kept memory is used again, and never more of it than the peak.
TEST_P(HostResidency, KeptMemoryStaysBelowThePeak) {
  const auto device = make(kUnlimited);
  auto token = device->keep_freed_memory();
  std::mt19937 random(13);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (int k = 0; k < 4; ++k) buffers.push_back(filled(*device, 1 + random() % 8'000'000));
    buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(random() % 4));
    buffers.push_back(filled(*device, 1 + random() % 8'000'000));
    if (i % 20 == 0) {
      ASSERT_LT(grown(), device->memory().peak + kSlack + 4096 * 16) << i;
    }
  }
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_GT(grown(), 8_MiB);  // it does keep something
  token.reset();
  EXPECT_LT(grown(), kSlack);
}

// Minor faults of this process so far.
long faults() {
  std::ifstream stat("/proc/self/stat");
  std::string text;
  std::getline(stat, text);
  long minor = 0;
  std::sscanf(text.c_str() + text.rfind(')'), ") %*c %*d %*d %*d %*d %*d %*u %ld", &minor);
  return minor;
}

TEST_P(HostResidency, KeptMemoryIsNotFaultedAgain) {
  const auto device = make(kUnlimited);
  const auto token = device->keep_freed_memory();
  filled(*device, 32_MiB).reset();
  const long before = faults();
  for (int i = 0; i < 10; ++i) filled(*device, 32_MiB).reset();
  EXPECT_LT(faults() - before, 100);  // 10 x 16 huge pages, or 10 x 8192 small ones, otherwise
}

INSTANTIATE_TEST_SUITE_P(Pages, HostResidency, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "Huge" : "Small"; });

// Bytes of the process in huge pages.
std::uint64_t huge_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    unsigned long kilobytes = 0;
    if (std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

TEST(HostHugePages, BackLargeArrays) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers map memory their own way";
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  std::getline(setting, text);
  if (text.empty() || text.find("[never]") != std::string::npos) GTEST_SKIP() << "huge pages are off: " << text;
  const std::uint64_t before = huge_bytes();
  const auto device = host_device({});
  auto buffer = device->allocate(64_MiB);
  ASSERT_THAT(buffer, IsOk());
  std::memset((*buffer)->host_data(), 1, 64_MiB);
  EXPECT_GT(huge_bytes(), before);

  const std::uint64_t with = huge_bytes();
  const auto small = host_device({.huge_pages = false});
  auto other = small->allocate(64_MiB);
  ASSERT_THAT(other, IsOk());
  std::memset((*other)->host_data(), 1, 64_MiB);
  EXPECT_EQ(huge_bytes(), with);
}

#if defined(__SANITIZE_ADDRESS__)
// Under the address sanitizer, freed and never allocated bytes of an arena are out of bounds.
TEST(HostDeviceDeathTest, StrayAccessesAreCaught) {
  const auto device = host_device({});
  auto buffer = device->allocate(100);
  ASSERT_THAT(buffer, IsOk());
  std::byte* const data = (*buffer)->host_data();
  EXPECT_DEATH(static_cast<volatile std::byte*>(data)[104] = std::byte{1}, "use-after-poison");
  buffer->reset();
  EXPECT_DEATH(static_cast<volatile std::byte*>(data)[0] = std::byte{1}, "use-after-poison");
}
#endif

}  // namespace
}  // namespace shardwise
