// The members of a zip archive, found through its central directory and checked against everything else that tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/bytes.h"
#include "shardwise/checkpoint.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::zip {

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

struct Member {
  std::string name;  // as stored; UTF-8 when the archive says so
  std::uint16_t flags = 0;
  std::uint16_t method = kStored;
  std::uint32_t crc32 = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header = 0;  // offset of the local header
  ByteRange data;            // stored or compressed bytes in the archive

  bool is_encrypted() const;
};

// "stored", "deflate", "bzip2", ... or "method 77".
std::string method_name(std::uint16_t method);

// All members in the order of the central directory. Reads the directory and 30 + name + extra bytes per member, no
// data.
//
// Accepted: ZIP64, data descriptors, a comment behind the directory, any order and gaps between members.
// Errors, all naming the member: DATA_LOSS for records that are missing, lie outside the file, overlap or disagree with
// each other, repeated names, and names with NUL or that lead out of the archive; UNIMPLEMENTED for archives in several
// files and encrypted directories; RESOURCE_EXHAUSTED for a directory over OpenOptions::max_header_bytes or 100,000
// members.
Result<std::vector<Member>> read_directory(const File& archive, const OpenOptions& options);

}  // namespace shardwise::zip
