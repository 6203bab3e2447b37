#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/catalog/tensors.h"
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

namespace fs = std::filesystem;

// Says what of the path is there.
Status explain_missing(const Status& status, const std::string& path) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    return not_found("{}; it is a symbolic link to {}, which is not there (cache cleaned up?)", status.message(),
                     printable(fs::read_symlink(path, error).string()));
  }
  const fs::path folder = fs::absolute(path, error).parent_path();
  if (fs::is_directory(folder, error)) return not_found("{}; its folder is there: a typing error?", status.message());
  return not_found("{}; the folder {} is not there either", status.message(), printable(folder.string()));
}

Result<Catalog> open_file_checkpoint(const std::string& path, const OpenOptions& options) {
  const auto file = open_file(path);
  if (!file.ok()) {
    return file.status().code() == Code::kNotFound ? explain_missing(file.status(), path) : file.status();
  }
  const auto format = sniff(**file, options);
  if (!format.ok()) return in_file(format.status(), path);
  SHARDWISE_ASSIGN_OR_RETURN(Catalog catalog, read_as(*format, path, *file, options));
  SHARDWISE_RETURN_IF_ERROR(validate(catalog));
  return catalog;
}

}  // namespace

Result<Catalog> open_checkpoint(const std::string& path, const OpenOptions& options) {
  try {
    std::error_code error;
    const bool folder = path.find('\0') == std::string::npos && fs::is_directory(path, error);
    if (!folder) return open_file_checkpoint(path, options);
    SHARDWISE_ASSIGN_OR_RETURN(const std::string found, find_in_folder(path));
    return open_file_checkpoint(found, options);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("{}: no memory left for the checkpoint's headers", path);
  } catch (const std::exception& error) {
    return internal_error("{}: {}", path, error.what());
  }
}

}  // namespace shardwise
