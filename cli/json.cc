#include "cli/json.h"

#include "cli/encoding_name.h"

namespace shardwise::cli {

std::string dump(const Json& document) {
  return document.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json error_json(const StageStatus& outcome) {
  return {{"code", to_string(outcome.status.code())},
          {"message", outcome.status.message()},
          {"exit_code", static_cast<int>(exit_code(outcome))}};
}

Json extents_json(const Catalog& catalog, const TensorInfo& tensor, std::size_t limit) {
  Json list = Json::array();
  for (const Extent& extent : tensor.extents) {
    if (list.size() == limit) break;
    Json entry;
    entry["file"] = extent.file == Extent::kNoFile ? Json() : Json(extent.file);
    entry["begin"] = extent.range.begin;
    entry["end"] = extent.range.end;
    if (extent.encoding != Extent::kRaw) {
      entry["filters"] = encoding_name(catalog, extent.encoding);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace shardwise::cli
