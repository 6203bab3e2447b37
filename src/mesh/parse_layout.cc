#include "base/format.h"
#include "mesh/layout_json.h"
#include "shardwise/layout.h"

namespace shardwise {

Result<Distribution> parse_layout(const std::string& json, const DeviceMesh& mesh, LayoutMapOptions options) {
  constexpr std::size_t kMaxProblems = 100;
  SHARDWISE_RETURN_IF_ERROR(mesh.status());
  auto read = read_layout_json(json);
  if (!read.ok()) return read.status().with_context("layout");
  options.dialect = read->dialect.value_or(options.dialect);
  options.uneven = read->uneven.value_or(options.uneven);
  LayoutMap map(mesh, options);
  std::vector<std::string> problems;
  for (LayoutFile::Rule& rule : read->rules) {
    const Status status = map.add(rule.key, std::move(rule.layout), LayoutMap::AxisSyntax::kCombined);
    if (status.ok()) continue;
    problems.push_back(format("{}: {}", text_position(json, rule.offset), status.message()));
    if (problems.size() == kMaxProblems) break;
  }
  if (!problems.empty()) return invalid_argument("layout: {}", fmt::join(problems, "\n"));
  return Distribution(ModelParallel(std::move(map)));
}

}  // namespace shardwise
