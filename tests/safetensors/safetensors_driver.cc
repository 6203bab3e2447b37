// Says what shardwise makes of many safetensors files: reads from standard input, over and over, a u64 length and that
// many bytes of one file; writes one line of JSON for each: a catalog, or the status.
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "checkpoint/catalog/readers.h"
#include "io/memory_file.h"

namespace {

using nlohmann::json;
using shardwise::Catalog;

json to_json(const shardwise::TensorInfo& tensor) {
  json out = {{"name", tensor.name}, {"dtype", shardwise::to_string(tensor.dtype)}, {"shape", tensor.shape}};
  json& ranges = out["ranges"] = json::array();
  for (const shardwise::Extent& extent : tensor.extents) ranges.push_back({extent.range.begin, extent.range.end});
  return out;
}

json verdict(const std::string& bytes) {
  auto catalog = shardwise::read_safetensors("m", shardwise::MemoryFile("m", bytes), {});
  const shardwise::Status status = catalog.ok() ? validate(*catalog) : catalog.status();
  if (!status.ok()) return {{"code", to_string(status.code())}, {"message", status.message()}};
  json out = {{"code", "OK"}, {"metadata", catalog->metadata}, {"tensors", json::array()}};
  for (const auto& tensor : catalog->tensors) out["tensors"].push_back(to_json(tensor));
  return out;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::uint64_t size = 0;
  while (std::cin.read(reinterpret_cast<char*>(&size), sizeof size)) {
    std::string bytes(size, '\0');
    if (!std::cin.read(bytes.data(), static_cast<std::streamsize>(size))) return 1;
    std::cout << verdict(bytes).dump(-1, ' ', true, json::error_handler_t::replace) << '\n';
  }
  return 0;
}
