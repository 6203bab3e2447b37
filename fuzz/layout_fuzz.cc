// Layout files (JSON) with their patterns: parse_layout(), and what its rules then say of a path.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "mesh/pattern.h"
#include "shardwise/layout.h"
#include "shardwise/placement.h"

namespace {

using namespace shardwise;

// A pattern whose cheap test denies what the real one allows is a bug.
void match(const std::string& key, const std::string& path) {
  for (MatchDialect dialect : {MatchDialect::kFullMatch, MatchDialect::kSearch}) {
    const auto pattern = Pattern::compile(key, dialect);
    if (!pattern.ok()) return;
    std::string storage;
    const std::string_view subject = utf8_path(path, storage);
    MatchScratch scratch;
    const auto matches = pattern->matches(subject, scratch);
    if (matches.ok() && *matches && !pattern->may_match(subject)) std::abort();
  }
}

void use(const Distribution& distribution, const DeviceMesh& mesh) {
  const Shape shape = {6, 8};
  for (const LayoutMap::Rule& rule : distribution.rules()->rules()) {
    const auto choice = distribution.variable_layout(rule.key, shape, DType::kFloat32);
    if (!choice.ok()) continue;
    const auto placement = place(rule.key, shape, choice->layout, mesh, distribution.uneven());
    if (placement.ok() && placement->device_box.size() != mesh.size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const DeviceMesh mesh({2, 4}, {"batch", "model"}, abstract_devices(8));
  if (const auto layout = parse_layout(text, mesh); layout.ok()) use(*layout, mesh);
  const std::size_t line = text.find('\n');
  if (line != std::string::npos) match(text.substr(0, line), text.substr(line + 1, kMaxPathBytes));
  return 0;
}
