// Device, Buffer, Event: the one seam between the loader and memory that a shard lives in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shardwise/mesh.h"
#include "shardwise/status.h"

namespace shardwise {

// Completion of an asynchronous copy. Thread-safe. Destroying it does not wait.
class Event {
 public:
  virtual ~Event() = default;
  // Blocks until the copy finished or failed, and says which. The source bytes may be reused afterwards.
  virtual Status wait() = 0;
};

// Memory of one device. Lives as long as any owner (std::shared_ptr) does, and is given back to the device when the
// last one goes; it keeps its device alive. Writable by its loader until published, immutable afterwards.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::uint64_t size() const = 0;
  // The bytes when the host can address them (host devices; aligned and not null even when there are none), else
  // nullptr.
  virtual std::byte* host_data() = 0;
  virtual const std::byte* host_data() const = 0;
};

struct DeviceMemory {
  std::uint64_t in_use = 0;  // bytes of live buffers, each rounded up to DeviceInfo::alignment
  std::uint64_t peak = 0;    // highest in_use since the last reset_peak()
  std::uint64_t limit = kUnlimited;
};

// A place that holds buffers. Thread-safe.
class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;
  virtual const std::string& id() const = 0;
  virtual DeviceInfo info() const = 0;
  virtual DeviceMemory memory() const = 0;
  virtual void reset_peak() = 0;

  // Uninitialised memory, aligned to info().alignment. Never blocks.
  // Errors: RESOURCE_EXHAUSTED with device, wanted, in use and limit.
  virtual Result<std::shared_ptr<Buffer>> allocate(std::uint64_t bytes) = 0;

  // Copies `source` to [offset, offset + source.size()) of a buffer of this device. `source` must stay valid and
  // unchanged until the event is waited for. Errors: INVALID_ARGUMENT for a range outside the buffer.
  virtual Result<std::shared_ptr<Event>> copy_from_host(Buffer& buffer, std::uint64_t offset,
                                                        std::span<const std::byte> source) = 0;
  // Copies bytes [offset, offset + target.size()) of a buffer of this device to the host; returns when done.
  virtual Status copy_to_host(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> target) = 0;

  // While what it returns lives, memory of freed buffers is kept ready for the next ones (never more in all than the
  // peak plus a little): for loads that drop arrays as they go. Otherwise freed memory goes back to the system soon.
  // Null when the device makes no such difference. Does not count as in use.
  virtual std::shared_ptr<void> keep_freed_memory() { return nullptr; }
};

// Settings of simulated devices in this process's memory.
struct HostDeviceOptions {
  std::uint64_t memory = kUnlimited;  // hard limit of each device, bytes
  bool huge_pages = true;             // advise transparent huge pages for large blocks
};

// `count` simulated devices "host:0".. : arenas in this process's memory with hard limits, 64-byte aligned buffers.
DeviceList host_devices(std::size_t count, const HostDeviceOptions& options = {});

}  // namespace shardwise
