// host_devices(): simulated devices in this process's memory.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/checked.h"
#include "base/format.h"
#include "concurrency/mutex.h"
#include "device/host/arena.h"
#include "device/host/poison.h"
#include "shardwise/bytes.h"
#include "shardwise/device.h"

namespace shardwise {
namespace {

using host::Arena;
using host::HugePages;

// Freed pages that an arena keeps although nothing asks it to, and those that it may have backed beyond its peak.
constexpr std::uint64_t kSlack = 1_MiB;

// Where buffers of no bytes point: an address that is aligned and not null.
alignas(Arena::kGranule) constinit const std::byte kNoBytes[Arena::kGranule] = {};

// Copies into host memory are done when they return. Immutable.
class CompletedEvent final : public Event {
 public:
  Status wait() override { return {}; }
};

// Thread-safe.
class HostDevice final : public Device {
 public:
  HostDevice(std::string id, const HostDeviceOptions& options)
      : id_(std::move(id)),
        limit_(options.memory),
        arena_(options.memory, options.huge_pages ? HugePages::kAdvise : HugePages::kNever) {}

  const std::string& id() const override { return id_; }
  DeviceInfo info() const override { return {id_, limit_, memory().in_use, Arena::kGranule}; }
  DeviceMemory memory() const override {
    MutexLock lock(mutex_);
    return {in_use_, peak_, limit_};
  }
  void reset_peak() override {
    MutexLock lock(mutex_);
    peak_ = in_use_;
  }

  Result<std::shared_ptr<Buffer>> allocate(std::uint64_t bytes) override;
  Result<std::shared_ptr<Event>> copy_from_host(Buffer& buffer, std::uint64_t offset,
                                                std::span<const std::byte> source) override;
  Status copy_to_host(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> target) override;
  std::shared_ptr<void> keep_freed_memory() override;

  // Gives back a block of `size` bytes, rounded up already.
  void release(std::byte* data, std::uint64_t size) noexcept;

 private:
  Result<std::byte*> take(std::uint64_t bytes);
  Status too_large(std::uint64_t bytes) const SHARDWISE_REQUIRES(mutex_);
  void settle() SHARDWISE_REQUIRES(mutex_);

  const std::string id_;
  const std::uint64_t limit_;
  const std::shared_ptr<Event> completed_ = std::make_shared<CompletedEvent>();
  mutable Mutex mutex_;
  Arena arena_ SHARDWISE_GUARDED_BY(mutex_);
  std::uint64_t in_use_ SHARDWISE_GUARDED_BY(mutex_) = 0;
  std::uint64_t peak_ SHARDWISE_GUARDED_BY(mutex_) = 0;
  std::uint64_t keepers_ SHARDWISE_GUARDED_BY(mutex_) = 0;
};

// A block of a device's arena. Thread-compatible; keeps its device alive.
class HostBuffer final : public Buffer {
 public:
  HostBuffer(std::shared_ptr<HostDevice> device, std::byte* data, std::uint64_t size)
      : device_(std::move(device)), data_(data), size_(size) {}
  ~HostBuffer() override {
    if (size_ != 0) device_->release(data_, round_up(size_, Arena::kGranule));
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  std::uint64_t size() const override { return size_; }
  std::byte* host_data() override { return data_; }
  const std::byte* host_data() const override { return data_; }
  const HostDevice* device() const { return device_.get(); }

 private:
  const std::shared_ptr<HostDevice> device_;
  std::byte* const data_;
  const std::uint64_t size_;
};

Status HostDevice::too_large(std::uint64_t bytes) const {
  const std::string_view rounding = bytes % Arena::kGranule == 0 ? "" : ", rounded up to a multiple of 64";
  return resource_exhausted(
      "{}: cannot allocate {} ({} bytes wanted{}, {} bytes in use, limit {} bytes, so {} bytes are free); spread the "
      "arrays over more devices, raise the device's memory limit, or drop arrays that it still holds",
      id_, format_bytes(bytes), bytes, rounding, in_use_, limit_, limit_ - in_use_);
}

// Gives pages back where the arena has more of them than it should (docs/memory.md): without a keeper, when freed ones
// add up to more than kSlack; with one, when all together are more than kSlack above the peak.
void HostDevice::settle() {
  if (keepers_ == 0) {
    if (arena_.reclaimable_bytes() > kSlack) arena_.give_back(arena_.reclaimable_bytes());
    return;
  }
  const std::uint64_t most = checked_add(peak_, kSlack).value_or(kUnlimited);
  if (arena_.backed_bytes() > most) arena_.give_back(arena_.backed_bytes() - most);
}

Result<std::byte*> HostDevice::take(std::uint64_t bytes) {
  MutexLock lock(mutex_);
  const std::uint64_t free = limit_ - in_use_;
  if (bytes > free || bytes > kUnlimited - Arena::kGranule) return too_large(bytes);
  const std::uint64_t size = round_up(bytes, Arena::kGranule);
  if (size > free) return too_large(bytes);
  std::byte* const data = arena_.allocate(size);
  if (data == nullptr) {
    return resource_exhausted("{}: cannot allocate {} ({} bytes wanted, {} bytes in use): {}", id_, format_bytes(bytes),
                              bytes, in_use_, std::generic_category().message(errno));
  }
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  settle();
  // Rounding's bytes belong to nobody.
  const auto address = reinterpret_cast<std::uint64_t>(data);
  host::poison({round_up(address + bytes, 8), address + size});
  return data;
}

void HostDevice::release(std::byte* data, std::uint64_t size) noexcept {
  MutexLock lock(mutex_);
  in_use_ -= size;
  try {
    arena_.free(data, size);
  } catch (const std::bad_alloc&) {
    return;  // no memory to note the hole: its addresses are not used again
  }
  settle();
}

Result<std::shared_ptr<Buffer>> HostDevice::allocate(std::uint64_t bytes) {
  auto self = std::static_pointer_cast<HostDevice>(shared_from_this());
  try {
    if (bytes == 0) {
      return std::shared_ptr<Buffer>(
          std::make_shared<HostBuffer>(std::move(self), const_cast<std::byte*>(kNoBytes), 0));
    }
    SHARDWISE_ASSIGN_OR_RETURN(std::byte* const data, take(bytes));
    try {
      return std::shared_ptr<Buffer>(std::make_shared<HostBuffer>(std::move(self), data, bytes));
    } catch (const std::bad_alloc&) {
      release(data, round_up(bytes, Arena::kGranule));
      throw;
    }
  } catch (const std::bad_alloc&) {
    return resource_exhausted("{}: cannot allocate {}: the process is out of memory", id_, format_bytes(bytes));
  }
}

// Ok when [offset, offset + count) of the buffer may be copied by this device.
Status check_copy(const HostDevice& device, const HostBuffer* buffer, std::uint64_t offset, std::uint64_t count) {
  if (buffer == nullptr || buffer->device() != &device) {
    return invalid_argument("{}: the buffer belongs to another device", device.id());
  }
  if (offset <= buffer->size() && count <= buffer->size() - offset) return {};
  return invalid_argument("{}: {} bytes at offset {} lie outside a buffer of {} bytes", device.id(), count, offset,
                          buffer->size());
}

Result<std::shared_ptr<Event>> HostDevice::copy_from_host(Buffer& buffer, std::uint64_t offset,
                                                          std::span<const std::byte> source) {
  auto* const target = dynamic_cast<HostBuffer*>(&buffer);
  SHARDWISE_RETURN_IF_ERROR(check_copy(*this, target, offset, source.size()));
  if (!source.empty()) std::memcpy(target->host_data() + offset, source.data(), source.size());
  return completed_;
}

Status HostDevice::copy_to_host(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> target) {
  const auto* const source = dynamic_cast<const HostBuffer*>(&buffer);
  SHARDWISE_RETURN_IF_ERROR(check_copy(*this, source, offset, target.size()));
  if (!target.empty()) std::memcpy(target.data(), source->host_data() + offset, target.size());
  return {};
}

std::shared_ptr<void> HostDevice::keep_freed_memory() {
  auto self = std::static_pointer_cast<HostDevice>(shared_from_this());
  {
    MutexLock lock(mutex_);
    ++keepers_;
  }
  try {
    return std::shared_ptr<void>(static_cast<void*>(this), [self = std::move(self)](void*) {
      MutexLock lock(self->mutex_);
      --self->keepers_;
      self->settle();
    });
  } catch (const std::bad_alloc&) {
    return nullptr;  // the constructor has called the deleter
  }
}

}  // namespace

DeviceList host_devices(std::size_t count, const HostDeviceOptions& options) {
  DeviceList devices;
  devices.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto device = std::make_shared<HostDevice>(format("host:{}", i), options);
    DeviceInfo info = device->info();
    devices.push_back(MeshDevice{std::move(info), std::move(device)});
  }
  return devices;
}

}  // namespace shardwise
