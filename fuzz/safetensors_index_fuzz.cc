// A safetensors index and two of its shards: the input is cut at NUL bytes into the index, "1.safetensors" and
// "2.safetensors", whose header lengths are put before them. What is accepted must also pass validate().
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "checkpoint/catalog/readers.h"
#include "io/memory_file.h"

namespace {

using shardwise::File;
using shardwise::MemoryFile;
using shardwise::Result;

// Text up to the next NUL; moves `rest` behind it.
std::string_view next_part(std::string_view& rest) {
  const std::string_view part = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

std::string with_length(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length).append(header).append(data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view index = next_part(rest);
  const std::string_view first = next_part(rest);
  const std::string_view second = next_part(rest);
  const shardwise::FileOpener open = [&](const std::string& path) -> Result<std::shared_ptr<const File>> {
    if (path == "no folder/1.safetensors") return {std::make_shared<MemoryFile>(path, with_length(first, "12345678"))};
    if (path == "no folder/2.safetensors") return {std::make_shared<MemoryFile>(path, with_length(second, "1234"))};
    return shardwise::not_found(path);
  };
  const MemoryFile file("no folder/i.json", index);
  const auto catalog = shardwise::read_safetensors_index(file.path(), file, open, {.max_tensors = 10'000});
  if (catalog.ok() && !validate(*catalog).ok()) std::abort();
  if (!catalog.ok() && !catalog.status().message().starts_with("no folder/i.json: ")) std::abort();
  return 0;
}
