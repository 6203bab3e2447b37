// The input: the length of an index and that of a file (two bytes each), the index, the file, another file. Shards
// whose name ends in an odd character are the other file. Whatever they are, the reader ends in a Status or in a
// catalog that validate() accepts.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checkpoint/catalog/readers.h"
#include "io/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shardwise;
  if (size < 4) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto number = [&](std::size_t at) { return std::size_t{data[at]} + 256 * std::size_t{data[at + 1]}; };
  const std::string_view index = all.substr(4, number(0));
  const std::string_view rest = all.substr(4 + index.size());
  const std::string_view first = rest.substr(0, number(2));
  const std::string_view second = rest.substr(first.size());
  const FileOpener open = [&](const std::string& path) -> Result<std::shared_ptr<const File>> {
    if (path.find("missing") != std::string::npos) return not_found(path);
    const bool odd = !path.empty() && path.back() % 2 == 1;
    return std::shared_ptr<const File>(std::make_shared<MemoryFile>(path, odd ? second : first));
  };
  const auto catalog = read_keras_json("no_such_folder/m.weights.json", MemoryFile("m.weights.json", index), open, {});
  if (catalog.ok() && !validate(*catalog).ok()) std::abort();
  return 0;
}
