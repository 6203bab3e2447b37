// Prints the catalog of a Keras checkpoint as JSON: keras_driver h5|json|zip PATH. A status that is not OK is printed
// as
// {"code": .., "message": ..}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "checkpoint/catalog/readers.h"

namespace {

using nlohmann::json;
using namespace shardwise;

json to_json(const Extent& extent) {
  json out = {{"begin", extent.range.begin}, {"end", extent.range.end}, {"box", to_string(extent.box)}};
  out["file"] = extent.file == Extent::kNoFile ? json() : json(extent.file);
  out["raw"] = extent.encoding == Extent::kRaw;
  return out;
}

json to_json(const Catalog& catalog) {
  json out = {{"format", catalog.format}, {"metadata", catalog.metadata}, {"warnings", catalog.warnings}};
  for (const CatalogFile& file : catalog.files) {
    out["files"].push_back({{"path", file.path},
                            {"size", file.size},
                            {"inode", file.inode},
                            {"member", {file.member.begin, file.member.end}}});
  }
  out["tensors"] = json::array();
  for (const TensorInfo& tensor : catalog.tensors) {
    json extents = json::array();
    for (const Extent& extent : tensor.extents) extents.push_back(to_json(extent));
    out["tensors"].push_back({{"name", tensor.name},
                              {"dtype", to_string(tensor.dtype)},
                              {"shape", tensor.shape},
                              {"extents", std::move(extents)}});
  }
  return out;
}

Result<Catalog> read(const std::string& format, const std::string& path) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::shared_ptr<const File> file, open_file(path));
  if (format == "h5") return read_keras_h5(path, *file, {});
  if (format == "zip") return read_keras_zip(path, file, {});
  if (format == "json") return read_keras_json(path, *file, open_file, {});
  return invalid_argument("unknown format " + format);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  auto catalog = read(arguments[1], arguments[2]);
  Status status = catalog.status();
  if (status.ok()) status = validate(*catalog);
  const json answer = status.ok()
                          ? to_json(*catalog)
                          : json{{"code", std::string(to_string(status.code()))}, {"message", status.message()}};
  std::cout << answer.dump() << "\n";
}
