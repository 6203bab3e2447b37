// Entries of layouts: which mesh axes split a dimension.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shardwise/mesh.h"

namespace shardwise {

// Positions in the mesh of the axes that an entry names: one for "model", two for "batch+model" (unless an axis has
// that very name); nullopt when some part is no axis of the mesh.
std::optional<std::vector<std::size_t>> find_axes(const std::string& entry, const DeviceMesh& mesh);

}  // namespace shardwise
