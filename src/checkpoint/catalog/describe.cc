#include <sys/stat.h>

#include "checkpoint/catalog/readers.h"

namespace shardwise {

CatalogFile describe(const File& file) {
  CatalogFile out{.path = file.path(), .size = file.size()};
  struct stat info {};
  if (file.descriptor() < 0 || fstat(file.descriptor(), &info) != 0) return out;
  out.device = static_cast<std::uint64_t>(info.st_dev);
  out.inode = static_cast<std::uint64_t>(info.st_ino);
  out.modified_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return out;
}

}  // namespace shardwise
