// What each reader offers to open_checkpoint().
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "shardwise/catalog.h"
#include "shardwise/checkpoint.h"
#include "shardwise/file.h"

namespace shardwise {

// Opens a file of a checkpoint; the readers use this instead of open_file() so that tests can serve bytes from memory.
// `name` is a path as open_file() takes it.
using FileOpener = std::function<Result<std::shared_ptr<const File>>(const std::string& path)>;

// Each fills Catalog::format, files, encodings, tensors (sorted by first byte), metadata and warnings. `path` is what
// the user gave. None reads tensor data. Multi-file readers open siblings of `path` through `open`.
Result<Catalog> read_safetensors(const std::string& path, const File& file, const OpenOptions& options);
Result<Catalog> read_safetensors_index(const std::string& path, const File& index, const FileOpener& open,
                                       const OpenOptions& options);
Result<Catalog> read_keras_h5(const std::string& path, const File& file, const OpenOptions& options);
Result<Catalog> read_keras_json(const std::string& path, const File& index, const FileOpener& open,
                                const OpenOptions& options);
Result<Catalog> read_keras_zip(const std::string& path, std::shared_ptr<const File> archive,
                               const OpenOptions& options);

// Size and identity (fstat of the descriptor, when there is one) of a file, for Catalog::files.
CatalogFile describe(const File& file);

// Checks a file name found inside a checkpoint: a plain name, no separators, "..", absolute or empty names, NUL, or
// over 255 bytes. Errors: DATA_LOSS naming `where` it stood.
Status check_member_name(const std::string& name, const std::string& where);

// Follows symbolic links of the file `name` (checked as above) in `folder`, and refuses one that ends in another
// folder. OK when there is no such file on disk: opening it says so. Errors: DATA_LOSS with the way out.
Status check_stays_inside(const std::string& folder, const std::string& name);

}  // namespace shardwise
