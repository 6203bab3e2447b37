// RunList: the dense runs of a window, and where in the shards each belongs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "load/targets.h"
#include "plan/windows.h"

namespace shardwise {

// Shorter runs are scattered from a buffer in the cache instead: below this a vector of a preadv costs as much as
// copying its bytes twice.
inline constexpr std::uint64_t kMinRunBytes = 512;

// For windows of one raw segment that consist of runs of kMinRunBytes or more, each wanted by exactly one addressable
// buffer, not converted, and at the same place of a cache line in file and memory: column shards of matrices with long
// rows, in files whose data is aligned. Such a window can be read straight into its shards.
// Thread-compatible; reused from window to window.
class RunList {
 public:
  RunList(const LoadPlan& plan, Targets& targets) : plan_(plan), targets_(targets) {}

  // False when the window is not of that kind. Else runs() are its bytes in file order.
  bool make(const Window& window);
  std::span<const std::span<std::byte>> runs() const { return runs_; }

 private:
  bool suits(const Segment& segment, const Copy& copy) const;
  void add_copy(const Copy& copy, std::uint64_t first, std::uint64_t last, std::uint64_t width);

  const LoadPlan& plan_;
  Targets& targets_;
  struct Run {
    std::uint64_t source;  // element
    std::byte* target;
    std::uint64_t bytes;
  };
  std::vector<Run> unordered_;
  std::vector<std::span<std::byte>> runs_;
  std::vector<CopyDim> scratch_;
};

}  // namespace shardwise
