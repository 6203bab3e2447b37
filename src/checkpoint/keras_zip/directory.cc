#include "checkpoint/keras_zip/directory.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/keras_zip/end.h"
#include "checkpoint/keras_zip/records.h"

namespace shardwise::zip {
namespace {

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool climbs(std::string_view name) {
  while (true) {
    const auto end = name.find_first_of("/\\");
    if (name.substr(0, end) == "..") return true;
    if (end == std::string_view::npos) return false;
    name.remove_prefix(end + 1);
  }
}

Status check_name(std::string_view name, std::uint16_t flags) {
  if (name.empty()) return data_loss("its name is empty");
  if (name.find('\0') != std::string_view::npos) return data_loss("its name holds a NUL character");
  if (name[0] == '/' || name[0] == '\\' || climbs(name)) return data_loss("its name leads out of the archive");
  if ((flags & kFlagUtf8) != 0 && !is_utf8(name)) return data_loss("its name is marked as UTF-8 and is not");
  return {};
}

// One entry at the front of `directory`, which is shortened by it.
Result<Member> take_entry(Bytes& directory, std::uint64_t number) {
  if (directory.size() < CentralEntry::kBytes || load<std::uint32_t>(directory, 0) != CentralEntry::kSignature) {
    return data_loss("member {}: the central directory has no entry for it, {} bytes before its end", number,
                     directory.size());
  }
  CentralEntry entry = parse_central(directory);
  directory = directory.subspan(CentralEntry::kBytes);
  const std::size_t rest = std::size_t{entry.name_length} + entry.extra_length + entry.comment_length;
  if (rest > directory.size()) {
    return data_loss("member {}: its name, extra area and comment of {} bytes end beyond the central directory", number,
                     rest);
  }
  Member member{.name = std::string(text_of(directory.first(entry.name_length)))};
  const auto finish = [&]() -> Status {
    SHARDWISE_RETURN_IF_ERROR(check_name(member.name, entry.flags));
    SHARDWISE_ASSIGN_OR_RETURN(const Extra64 extra,
                               parse_extra(directory.subspan(entry.name_length, entry.extra_length)));
    SHARDWISE_RETURN_IF_ERROR(widen(extra, entry));
    if (entry.disk != 0) return unimplemented("it is in file {} of an archive in several files", entry.disk);
    if ((entry.flags & kFlagMasked) != 0) return unimplemented("its directory entry is encrypted");
    return {};
  };
  if (const Status status = finish(); !status.ok()) {
    return status.with_context(format("member '{}'", printable(member.name)));
  }
  directory = directory.subspan(rest);
  member.flags = entry.flags;
  member.method = entry.method;
  member.crc32 = entry.crc32;
  member.compressed_size = entry.compressed_size;
  member.size = entry.size;
  member.header = entry.header_offset;
  return member;
}

Result<std::vector<Member>> read_entries(const File& archive, const DirectoryPlace& place) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(place.range.size()));
  SHARDWISE_RETURN_IF_ERROR(archive.read(place.range.begin, bytes));
  Bytes left(bytes);
  std::vector<Member> members;
  members.reserve(static_cast<std::size_t>(place.entries));
  for (std::uint64_t i = 0; i < place.entries; ++i) {
    SHARDWISE_ASSIGN_OR_RETURN(Member member, take_entry(left, i));
    members.push_back(std::move(member));
  }
  if (!left.empty()) {
    return data_loss("{} bytes of the central directory follow its {} entries", left.size(), place.entries);
  }
  std::unordered_set<std::string_view> names;
  for (const Member& member : members) {
    if (names.insert(member.name).second) continue;
    return data_loss("member '{}' occurs twice", printable(member.name));
  }
  return members;
}

Status check_equal(std::string_view what, std::uint64_t local, std::uint64_t central) {
  if (local == central) return {};
  return data_loss("its local header says {} {}, the central directory {}", what, local, central);
}

Status compare(const LocalHeader& local, const Member& member) {
  // Which bits besides these are set in both places differs between writers.
  constexpr std::uint16_t kFlags = kFlagEncrypted | kFlagDescriptor;
  SHARDWISE_RETURN_IF_ERROR(check_equal("flags", local.flags & kFlags, member.flags & kFlags));
  SHARDWISE_RETURN_IF_ERROR(check_equal("method", local.method, member.method));
  const bool later = (member.flags & kFlagDescriptor) != 0;
  if (!later || local.crc32 != 0) SHARDWISE_RETURN_IF_ERROR(check_equal("CRC", local.crc32, member.crc32));
  if (!later || local.size != 0) SHARDWISE_RETURN_IF_ERROR(check_equal("size", local.size, member.size));
  if (later && local.compressed_size == 0) return {};
  return check_equal("compressed size", local.compressed_size, member.compressed_size);
}

// The bytes of the data descriptor behind the data: with or without signature, with 4- or 8-byte sizes.
Result<std::uint64_t> descriptor_bytes(const File& archive, const Member& member, std::uint64_t limit) {
  constexpr std::uint32_t kSignature = 0x08074b50;
  constexpr std::size_t kMost = 24;
  std::array<std::byte, kMost> buffer{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kMost, limit - member.data.end));
  SHARDWISE_RETURN_IF_ERROR(archive.read(member.data.end, std::span(buffer).first(count)));
  for (const bool is_signed : {true, false}) {
    for (const std::size_t width : {std::size_t{8}, std::size_t{4}}) {
      const std::size_t start = is_signed ? 4 : 0;
      const std::size_t size = start + 4 + 2 * width;
      if (size > count || (is_signed && load<std::uint32_t>(buffer, 0) != kSignature)) continue;
      const auto number = [&](std::size_t at) {
        return width == 8 ? load<std::uint64_t>(buffer, at) : load<std::uint32_t>(buffer, at);
      };
      const bool same = load<std::uint32_t>(buffer, start) == member.crc32 &&
                        number(start + 4) == member.compressed_size && number(start + 4 + width) == member.size;
      if (same) return size;
    }
  }
  return data_loss("the data descriptor behind its data at {} does not say what the central directory says",
                   member.data.end);
}

// Compares the local header, whose name and extra area are `text`, with the entry.
Status check_local(LocalHeader local, Bytes text, const Member& member) {
  const std::string_view name = text_of(text.first(local.name_length));
  if (name != member.name) return data_loss("its local header calls it '{}'", printable(name));
  SHARDWISE_ASSIGN_OR_RETURN(const Extra64 extra, parse_extra(text.subspan(local.name_length)));
  SHARDWISE_RETURN_IF_ERROR(widen(extra, local));
  return compare(local, member);
}

// Sets member.data, and `end`, the first byte behind the member before, to that behind this one. `limit`: where the
// central directory begins.
Status locate(const File& archive, std::uint64_t limit, Member& member, std::uint64_t& end) {
  if (member.header < end) {
    return data_loss("its local header at {} lies in the member before it, which ends at {} (overlap)", member.header,
                     end);
  }
  if (member.header > limit || limit - member.header < LocalHeader::kBytes) {
    return data_loss("its local header at {} is beyond the members, which end at {}", member.header, limit);
  }
  std::array<std::byte, LocalHeader::kBytes> record;
  SHARDWISE_RETURN_IF_ERROR(archive.read(member.header, record));
  if (load<std::uint32_t>(record, 0) != LocalHeader::kSignature) {
    return data_loss("there is no local header at {}", member.header);
  }
  const LocalHeader local = parse_local(record);
  const std::uint64_t begin = member.header + LocalHeader::kBytes;
  const std::uint64_t names = std::uint64_t{local.name_length} + local.extra_length;
  if (names > limit - begin || member.compressed_size > limit - begin - names) {
    return data_loss("its {} bytes of data at {} end beyond the members, which end at {}", member.compressed_size,
                     begin + names, limit);
  }
  std::vector<std::byte> text(static_cast<std::size_t>(names));
  SHARDWISE_RETURN_IF_ERROR(archive.read(begin, text));
  SHARDWISE_RETURN_IF_ERROR(check_local(local, text, member));
  member.data = {begin + names, begin + names + member.compressed_size};
  end = member.data.end;
  if ((member.flags & kFlagDescriptor) == 0) return {};
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t descriptor, descriptor_bytes(archive, member, limit));
  end += descriptor;
  return {};
}

Status check_sizes(const Member& member) {
  if (member.method != kStored || member.is_encrypted() || member.compressed_size == member.size) return {};
  return data_loss("it is stored, but its {} bytes take {} in the archive (compressed?)", member.size,
                   member.compressed_size);
}

}  // namespace

bool Member::is_encrypted() const { return (flags & (kFlagEncrypted | kFlagStrongEncryption)) != 0; }

std::string method_name(std::uint16_t method) {
  switch (method) {
    case kStored:
      return "stored";
    case 1:
      return "shrink";
    case 6:
      return "implode";
    case kDeflated:
      return "deflate";
    case 9:
      return "deflate64";
    case 12:
      return "bzip2";
    case 14:
      return "lzma";
    case 20:
    case 93:
      return "zstd";
    case 95:
      return "xz";
    default:
      return format("method {}", method);
  }
}

Result<std::vector<Member>> read_directory(const File& archive, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(const DirectoryPlace place, find_directory(archive, options));
  SHARDWISE_ASSIGN_OR_RETURN(std::vector<Member> members, read_entries(archive, place));
  // In the order of the archive, so that no byte of it is read for two members.
  std::vector<Member*> order;
  for (Member& member : members) order.push_back(&member);
  std::sort(order.begin(), order.end(), [](const Member* a, const Member* b) { return a->header < b->header; });
  std::uint64_t end = 0;
  for (Member* member : order) {
    Status status = locate(archive, place.range.begin, *member, end);
    if (status.ok()) status = check_sizes(*member);
    if (!status.ok()) return status.with_context(format("member '{}'", printable(member->name)));
  }
  return members;
}

}  // namespace shardwise::zip
