#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/folder.h"
#include "checkpoint/sniff.h"
#include "shardwise/checkpoint.h"

namespace shardwise {
namespace {

Result<Catalog> read_as(Format format, const std::string& path, const std::shared_ptr<const File>& file,
                        const OpenOptions& options) {
  const FileOpener open = [](const std::string& name) { return open_file(name); };
  switch (format) {
    case Format::kSafetensors:
      return read_safetensors(path, *file, options);
    case Format::kSafetensorsIndex:
      return read_safetensors_index(path, *file, open, options);
    case Format::kKerasIndex:
      return read_keras_json(path, *file, open, options);
    case Format::kHdf5:
      return read_keras_h5(path, *file, options);
    case Format::kZip:
      return read_keras_zip(path, file, options);
  }
  return internal_error("{}: no reader for format {}", path, static_cast<int>(format));
}

Result<Catalog> open_file_checkpoint(const std::string& path, const OpenOptions& options) {
  const auto file = open_file(path);
  if (!file.ok()) return file.status();
  const auto format = sniff(**file, options);
  if (!format.ok()) return format.status().with_context(path);
  SHARDWISE_ASSIGN_OR_RETURN(Catalog catalog, read_as(*format, path, *file, options));
  SHARDWISE_RETURN_IF_ERROR(validate(catalog));
  return catalog;
}

}  // namespace

Result<Catalog> open_checkpoint(const std::string& path, const OpenOptions& options) {
  try {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) return open_file_checkpoint(path, options);
    SHARDWISE_ASSIGN_OR_RETURN(const std::string found, find_in_folder(path));
    return open_file_checkpoint(found, options);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("{}: no memory left for the checkpoint's headers", path);
  } catch (const std::exception& error) {
    return internal_error("{}: {}", path, error.what());
  }
}

}  // namespace shardwise
