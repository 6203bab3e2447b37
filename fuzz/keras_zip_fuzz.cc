// The input is a .keras archive. Whatever it is, the reader ends in a Status or in a catalog that validate() accepts,
// and deflated weights can be read to their end, right or with an error.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "checkpoint/catalog/readers.h"
#include "io/inflate_file.h"
#include "io/memory_file.h"

namespace shardwise {
namespace {

void read_backwards(const std::shared_ptr<const File>& archive, const CatalogFile& stream) {
  const auto file = open_inflate_file(archive, stream.member, stream.size);
  if (!file.ok()) return;
  constexpr std::uint64_t kStep = 100'000;
  std::vector<std::byte> bytes(kStep);
  for (std::uint64_t end = std::min<std::uint64_t>(stream.size, 4'000'000); end > 0;) {
    const std::uint64_t count = std::min(end, kStep);
    end -= count;
    const Status status = (*file)->read(end, std::span(bytes).first(count));
    if (!status.ok() && status.code() != Code::kDataLoss) std::abort();
  }
}

}  // namespace
}  // namespace shardwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shardwise;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto archive = std::make_shared<MemoryFile>("m.keras", std::vector<std::byte>(bytes, bytes + size));
  const auto catalog = read_keras_zip("m.keras", archive, {});
  if (!catalog.ok()) return 0;
  if (!validate(*catalog).ok()) std::abort();
  for (const CatalogFile& file : catalog->files) {
    if (file.is_deflated()) read_backwards(archive, file);
  }
  return 0;
}
