// The checkpoint that a folder holds.
#pragma once

#include <string>

#include "shardwise/status.h"

namespace shardwise {

// Path of the file to open for `folder`: its only *.safetensors.index.json (model.safetensors.index.json wins over
// others), its only *.safetensors, or model.weights.h5 of an unpacked .keras archive. Errors: NOT_FOUND when there is
// none, or more than one to choose from; PERMISSION_DENIED; DATA_LOSS for a link that leads out of the folder.
Result<std::string> find_in_folder(const std::string& folder);

}  // namespace shardwise
