#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "shardwise/checkpoint.h"

namespace shardwise {

Result<Catalog> open_checkpoint(const std::string& path, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::shared_ptr<const File> file, open_file(path));
  if (!path.ends_with(".safetensors")) return unimplemented("{}: only .safetensors files are read so far", path);
  return read_safetensors(path, *file, options);
}

}  // namespace shardwise
