// metadata.json of a .keras archive: which Keras wrote it, and when.
#pragma once

#include <map>
#include <string>

#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::keras {

// Adds the texts of the document's top level ("keras_version", "date_saved") to `metadata`. The caller has capped the
// file's size. Errors: those of the file; DATA_LOSS for malformed JSON.
Status read_model_metadata(const File& file, std::map<std::string, std::string>& metadata);

}  // namespace shardwise::keras
