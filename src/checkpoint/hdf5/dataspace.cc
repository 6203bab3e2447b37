#include "checkpoint/hdf5/dataspace.h"

#include <limits>

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::uint8_t kMaxHdf5Rank = 32;
constexpr std::uint8_t kHasMaxima = 0x01;
constexpr std::uint8_t kHasPermutation = 0x02;

Status read_dims(Cursor& cursor, std::uint8_t rank, std::uint8_t flags, Shape& shape) {
  for (std::uint8_t d = 0; d < rank; ++d) {
    const std::uint64_t extent = cursor.length();
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return cursor.error(format("dimension {} is {}", d, extent));
    }
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  for (std::uint8_t d = 0; (flags & kHasMaxima) != 0 && d < rank; ++d) {
    const std::uint64_t maximum = cursor.length();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (static_cast<std::uint64_t>(shape[d]) > maximum) {
      return cursor.error(format("dimension {} is {}, over its maximum of {}", d, shape[d], maximum));
    }
  }
  return cursor.status();
}

}  // namespace

Result<Dataspace> read_dataspace(Cursor& cursor) {
  const std::uint8_t version = cursor.u8();
  const std::uint8_t rank = cursor.u8();
  const std::uint8_t flags = cursor.u8();
  const std::uint8_t type = cursor.u8();  // reserved in version 1
  if (version == 1) cursor.skip(4);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 1 && version != 2) return cursor.error(format("version {}", version));
  if (rank > kMaxHdf5Rank) return cursor.error(format("rank {}, over {}", rank, kMaxHdf5Rank));
  if (version == 1 && (flags & kHasPermutation) != 0)
    return cursor.error("permuted dimensions, which were never defined");

  Dataspace space;
  if (version == 1) {
    space.kind = rank == 0 ? Dataspace::Kind::kScalar : Dataspace::Kind::kSimple;
  } else if (type > 2) {
    return cursor.error(format("type {}", type));
  } else {
    space.kind = static_cast<Dataspace::Kind>(type);
  }
  if (space.kind != Dataspace::Kind::kSimple && rank != 0) return cursor.error("a scalar with dimensions");
  SHARDWISE_RETURN_IF_ERROR(read_dims(cursor, rank, flags, space.shape));
  return space;
}

}  // namespace shardwise::hdf5
