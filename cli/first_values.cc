#include "cli/first_values.h"

#include <algorithm>

#include "base/format.h"
#include "codec/strided_copy.h"

namespace shardwise::cli {

Status FirstValues::add(const ShardedArray& array) {
  constexpr std::int64_t kCount = 4;
  if (!can_cast(array.dtype(), DType::kFloat64)) return Status();
  const Placement& placement = array.placement();
  for (std::size_t d = 0; d < placement.device_box.size(); ++d) {
    const auto& buffer = array.buffers()[d];
    const Box& box = array.box(d);
    const bool first = std::all_of(box.origin.begin(), box.origin.end(), [](std::int64_t at) { return at == 0; });
    if (!first || buffer == nullptr || buffer->size() == 0 || buffer->host_data() == nullptr) continue;
    const std::int64_t count = box.extent.empty() ? 1 : std::min(kCount, box.extent.back());
    std::vector<double>& values = values_[array.name()];
    values.resize(static_cast<std::size_t>(count));
    const CopyDim dim{static_cast<std::uint64_t>(count), 1, 1};
    return strided_copy({&dim, 1}, buffer->host_data(), array.dtype(), reinterpret_cast<std::byte*>(values.data()),
                        DType::kFloat64);
  }
  return Status();
}

const std::vector<double>* FirstValues::find(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : &at->second;
}

std::string to_string(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(format("{:.6g}", value));
  return format("{}", fmt::join(texts, " "));
}

}  // namespace shardwise::cli
