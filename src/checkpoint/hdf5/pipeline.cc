#include "checkpoint/hdf5/pipeline.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::uint8_t kMaxFilters = 32;
constexpr std::uint16_t kDeflateId = 1;
constexpr std::uint16_t kShuffleId = 2;
constexpr std::uint16_t kFletcher32Id = 3;
// Filters up to this id are the library's own and have no name in version 2.
constexpr std::uint16_t kFirstRegisteredId = 256;

std::string_view known_name(std::uint16_t id) {
  constexpr std::array<std::pair<std::uint16_t, std::string_view>, 10> kNames = {{{4, "szip"},
                                                                                  {5, "nbit"},
                                                                                  {6, "scaleoffset"},
                                                                                  {305, "lzo"},
                                                                                  {307, "bzip2"},
                                                                                  {32000, "lzf"},
                                                                                  {32001, "blosc"},
                                                                                  {32004, "lz4"},
                                                                                  {32015, "zstd"},
                                                                                  {32026, "blosc2"}}};
  for (const auto& [known, name] : kNames) {
    if (known == id) return name;
  }
  return "unknown";
}

Result<Filter> read_filter(Cursor& cursor, std::uint8_t version) {
  const std::uint16_t id = cursor.u16();
  const bool has_name = version == 1 || id >= kFirstRegisteredId;
  const std::uint16_t name_length = has_name ? cursor.u16() : std::uint16_t{0};
  cursor.skip(2);  // flags: whether a writer may leave it out
  const std::uint16_t value_count = cursor.u16();
  cursor.skip(name_length);
  if (version == 1 && name_length % 8 != 0) cursor.skip(8 - name_length % 8);
  const std::uint32_t first_value = value_count > 0 ? cursor.u32() : 0;
  for (std::uint16_t i = 1; i < value_count && cursor.ok(); ++i) cursor.skip(4);
  if (version == 1 && value_count % 2 != 0) cursor.skip(4);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  switch (id) {
    case kDeflateId:
      return Filter{Filter::Kind::kDeflate, 0};
    case kFletcher32Id:
      return Filter{Filter::Kind::kFletcher32, 0};
    case kShuffleId:
      if (first_value == 0) return cursor.error("shuffle without the size of an element");
      return Filter{Filter::Kind::kShuffle, first_value};
    default:
      return unimplemented("filter {} ({})", id, known_name(id));
  }
}

}  // namespace

Result<std::vector<Filter>> read_pipeline(Cursor& cursor) {
  const std::uint8_t version = cursor.u8();
  const std::uint8_t count = cursor.u8();
  if (version == 1) cursor.skip(6);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 1 && version != 2) return cursor.error(format("version {}", version));
  if (count > kMaxFilters) return cursor.error(format("{} filters, over {}", count, kMaxFilters));
  std::vector<Filter> filters;
  for (std::uint8_t i = 0; i < count; ++i) {
    SHARDWISE_ASSIGN_OR_RETURN(const Filter filter, read_filter(cursor, version));
    filters.push_back(filter);
  }
  return filters;
}

}  // namespace shardwise::hdf5
