#include "checkpoint/keras_zip/end.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/keras_zip/records.h"

namespace shardwise::zip {
namespace {

constexpr std::uint64_t kMaxComment = 65535;
constexpr std::uint64_t kMaxMembers = 100'000;

struct End {
  EndRecord record;
  std::uint64_t offset = 0;  // of the first end record: the ZIP64 one when there is one
};

Result<End> find_end(const File& archive) {
  const std::uint64_t reach = std::min(archive.size(), EndRecord::kBytes + kMaxComment);
  std::vector<std::byte> tail(static_cast<std::size_t>(reach));
  SHARDWISE_RETURN_IF_ERROR(archive.read(archive.size() - reach, tail));
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (tail.size() - at < EndRecord::kBytes) continue;
    const Bytes record = Bytes(tail).subspan(at);
    if (load<std::uint32_t>(record, 0) != EndRecord::kSignature) continue;
    const auto comment = load<std::uint16_t>(record, EndRecord::kBytes - 2);
    if (record.size() != EndRecord::kBytes + comment) continue;
    return End{parse_end(record), archive.size() - reach + at};
  }
  return data_loss("no end of central directory in the last {} of {} bytes (truncated download, or not a zip archive?)",
                   reach, archive.size());
}

Result<std::optional<Locator64>> find_locator(const File& archive, std::uint64_t end) {
  if (end < Locator64::kBytes) return std::optional<Locator64>();
  std::array<std::byte, Locator64::kBytes> record;
  SHARDWISE_RETURN_IF_ERROR(archive.read(end - Locator64::kBytes, record));
  if (load<std::uint32_t>(record, 0) != Locator64::kSignature) return std::optional<Locator64>();
  return std::optional(parse_locator64(record));
}

Result<EndRecord64> read_end64(const File& archive, const Locator64& locator, std::uint64_t locator_offset) {
  constexpr std::uint64_t kUncounted = 12;  // signature and size field are not in record_size
  if (locator.end_offset > locator_offset || locator_offset - locator.end_offset < EndRecord64::kBytes) {
    return data_loss("the ZIP64 end record at {} does not fit before its locator at {}", locator.end_offset,
                     locator_offset);
  }
  std::array<std::byte, EndRecord64::kBytes> record;
  SHARDWISE_RETURN_IF_ERROR(archive.read(locator.end_offset, record));
  const EndRecord64 end = parse_end64(record);
  if (load<std::uint32_t>(record, 0) != EndRecord64::kSignature) {
    return data_loss("there is no ZIP64 end record at {}, where the locator puts it", locator.end_offset);
  }
  if (end.record_size != locator_offset - locator.end_offset - kUncounted) {
    return data_loss("the ZIP64 end record at {} counts {} bytes but its locator follows at {}", locator.end_offset,
                     end.record_size, locator_offset);
  }
  return end;
}

Status merge(std::string_view what, std::uint64_t none, std::uint64_t wide, std::uint64_t& narrow) {
  if (narrow != none && narrow != wide) {
    return data_loss("the end records disagree: {} is {}, and {} in the ZIP64 one", what, narrow, wide);
  }
  narrow = wide;
  return {};
}

Status widen(const File& archive, End& end) {
  SHARDWISE_ASSIGN_OR_RETURN(const auto locator, find_locator(archive, end.offset));
  EndRecord& record = end.record;
  if (!locator) {
    if (record.directory_offset != kNone32 && record.directory_size != kNone32) return {};
    return data_loss("the place of the central directory stands in a ZIP64 end record that is missing");
  }
  if (locator->disk != 0 || locator->disks > 1) return unimplemented("an archive in several files");
  SHARDWISE_ASSIGN_OR_RETURN(const EndRecord64 wide, read_end64(archive, *locator, end.offset - Locator64::kBytes));
  SHARDWISE_RETURN_IF_ERROR(merge("the directory's offset", kNone32, wide.directory_offset, record.directory_offset));
  SHARDWISE_RETURN_IF_ERROR(merge("the directory's size", kNone32, wide.directory_size, record.directory_size));
  SHARDWISE_RETURN_IF_ERROR(merge("the number of members", kNone16, wide.entries, record.entries));
  SHARDWISE_RETURN_IF_ERROR(merge("the number of members here", kNone16, wide.entries_on_disk, record.entries_on_disk));
  record.disk = wide.disk;
  record.directory_disk = wide.directory_disk;
  end.offset = locator->end_offset;
  return {};
}

}  // namespace

Result<DirectoryPlace> find_directory(const File& archive, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(End end, find_end(archive));
  SHARDWISE_RETURN_IF_ERROR(widen(archive, end));
  const EndRecord& record = end.record;
  if (record.disk != 0 || record.directory_disk != 0 || record.entries_on_disk != record.entries) {
    return unimplemented("an archive in several files: this one is number {}", record.disk);
  }
  const auto directory_end = checked_add(record.directory_offset, record.directory_size);
  if (!directory_end || *directory_end != end.offset) {
    return data_loss(
        "the central directory of {} bytes at {} does not end at the end record at {} (bytes put in front "
        "of the archive, or cut out of it?)",
        record.directory_size, record.directory_offset, end.offset);
  }
  if (record.directory_size > options.max_header_bytes) {
    return resource_exhausted("the central directory of {} bytes is above OpenOptions::max_header_bytes, {}",
                              record.directory_size, options.max_header_bytes);
  }
  if (record.entries > kMaxMembers) {
    return resource_exhausted("the archive has {} members; more than {} are not read", record.entries, kMaxMembers);
  }
  if (record.entries > record.directory_size / CentralEntry::kBytes) {
    return data_loss("{} members do not fit into a central directory of {} bytes", record.entries,
                     record.directory_size);
  }
  return DirectoryPlace{{record.directory_offset, *directory_end}, record.entries};
}

}  // namespace shardwise::zip
