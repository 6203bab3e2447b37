#include "checkpoint/catalog/readers.h"
#include "checkpoint/catalog/tensors.h"
#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/keras_h5/append.h"

namespace shardwise {

Result<Catalog> read_keras_h5(const std::string& path, const File& file, const OpenOptions& options) {
  auto contents = hdf5::read(file, options);
  if (!contents.ok()) return contents.status();
  Catalog catalog{.format = keras::has_keras_groups(contents->groups) ? "keras-h5" : "hdf5", .path = path};
  catalog.files.push_back(describe(file));
  keras::append_metadata(contents->groups, catalog);
  const Status appended = keras::append_datasets(std::move(contents->datasets), contents->encodings, {}, catalog);
  if (!appended.ok()) return appended.with_context(path);
  if (const Status names = check_names(catalog.tensors); !names.ok()) return names.with_context(path);
  sort_by_first_byte(catalog.tensors);
  return catalog;
}

}  // namespace shardwise
