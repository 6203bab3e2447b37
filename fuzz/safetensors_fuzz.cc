// One safetensors file. What is accepted must also pass validate().
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checkpoint/catalog/readers.h"
#include "io/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const shardwise::MemoryFile file("m", std::string_view(reinterpret_cast<const char*>(data), size));
  const auto catalog = shardwise::read_safetensors("m", file, {.max_tensors = 10'000});
  if (catalog.ok() && !validate(*catalog).ok()) std::abort();
  if (!catalog.ok() && !catalog.status().message().starts_with("m: ")) std::abort();
  return 0;
}
