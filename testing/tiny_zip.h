// Small zip archives for tests, and the places in them that can be broken. Header only; needs zlib.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "testing/tiny_hdf5.h"

namespace shardwise::tiny {

struct ZipMember {
  std::string name;
  std::string data;
  std::uint16_t method = 0;  // 8 deflates; any other is only written into the headers
  std::uint16_t flags = 0;   // bit 3 writes a data descriptor with signature
  bool local_zip64 = false;
  bool central_zip64 = false;
};

// An archive and where its records are, for patching. Members are written in the order given.
struct Zip {
  std::string bytes;
  std::vector<std::size_t> local;    // local headers
  std::vector<std::size_t> data;     // data of the members
  std::vector<std::size_t> central;  // central entries
  std::size_t end64 = 0;             // ZIP64 end record, 0 when there is none
  std::size_t end = 0;               // end record

  template <typename T>
  Zip& patch(std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return *this;
  }
  Zip& patch16(std::size_t at, std::uint64_t value) { return patch(at, static_cast<std::uint16_t>(value)); }
  Zip& patch32(std::size_t at, std::uint64_t value) { return patch(at, static_cast<std::uint32_t>(value)); }
};

inline std::string deflate_raw(std::string_view plain) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, plain.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<unsigned>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

inline std::uint64_t crc32_of(std::string_view text) {
  return crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<unsigned>(text.size()));
}

namespace zip_internal {

struct Sizes {
  std::uint64_t crc = 0;
  std::uint64_t stored = 0;
  std::uint64_t plain = 0;
};

inline void write_local(const ZipMember& member, const Sizes& sizes, std::string_view data, Zip& zip) {
  const bool later = (member.flags & 8) != 0;
  const Sizes said = later ? Sizes{} : sizes;
  constexpr std::uint64_t kNone = 0xffffffff;
  Blob out;
  out.u32(0x04034b50).u16(20).u16(member.flags).u16(member.method).u32(0x58210000).u32(said.crc);
  out.u32(member.local_zip64 ? kNone : said.stored).u32(member.local_zip64 ? kNone : said.plain);
  out.u16(member.name.size()).u16(member.local_zip64 ? 20 : 0).text(member.name);
  if (member.local_zip64) out.u16(1).u16(16).u64(said.plain).u64(said.stored);
  zip.local.push_back(zip.bytes.size());
  zip.bytes += out.bytes();
  zip.data.push_back(zip.bytes.size());
  zip.bytes += data;
  if (!later) return;
  Blob descriptor;
  descriptor.u32(0x08074b50).u32(sizes.crc);
  if (member.local_zip64) {
    descriptor.u64(sizes.stored).u64(sizes.plain);
  } else {
    descriptor.u32(sizes.stored).u32(sizes.plain);
  }
  zip.bytes += descriptor.bytes();
}

inline void write_central(const ZipMember& member, const Sizes& sizes, std::uint64_t local, Zip& zip) {
  constexpr std::uint64_t kNone = 0xffffffff;
  const bool wide = member.central_zip64;
  Blob out;
  out.u32(0x02014b50).u16(20).u16(20).u16(member.flags).u16(member.method).u32(0x58210000).u32(sizes.crc);
  out.u32(wide ? kNone : sizes.stored).u32(wide ? kNone : sizes.plain).u16(member.name.size()).u16(wide ? 28 : 0);
  out.u16(0).u16(0).u16(0).u32(0).u32(wide ? kNone : local).text(member.name);
  if (wide) out.u16(1).u16(24).u64(sizes.plain).u64(sizes.stored).u64(local);
  zip.central.push_back(zip.bytes.size());
  zip.bytes += out.bytes();
}

}  // namespace zip_internal

enum class End : std::uint8_t { kPlain, kZip64 };

inline Zip make_zip(const std::vector<ZipMember>& members, End end = End::kPlain, std::string_view comment = {}) {
  Zip zip;
  std::vector<zip_internal::Sizes> sizes;
  for (const ZipMember& member : members) {
    const std::string data = member.method == 8 ? deflate_raw(member.data) : member.data;
    sizes.push_back({crc32_of(member.data), data.size(), member.data.size()});
    zip_internal::write_local(member, sizes.back(), data, zip);
  }
  const std::uint64_t directory = zip.bytes.size();
  for (std::size_t i = 0; i < members.size(); ++i) zip_internal::write_central(members[i], sizes[i], zip.local[i], zip);
  const std::uint64_t size = zip.bytes.size() - directory;
  Blob out;
  if (end == End::kZip64) {
    zip.end64 = zip.bytes.size();
    out.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(members.size()).u64(members.size());
    out.u64(size).u64(directory).u32(0x07064b50).u32(0).u64(zip.end64).u32(1);
  }
  zip.end = zip.bytes.size() + out.size();
  const bool wide = end == End::kZip64;
  out.u32(0x06054b50).u16(0).u16(0).u16(wide ? 0xffff : members.size()).u16(wide ? 0xffff : members.size());
  out.u32(wide ? 0xffffffff : size).u32(wide ? 0xffffffff : directory).u16(comment.size()).text(comment);
  zip.bytes += out.bytes();
  return zip;
}

}  // namespace shardwise::tiny
