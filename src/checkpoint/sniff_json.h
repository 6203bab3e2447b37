// Which index a JSON file is.
#pragma once

#include "checkpoint/sniff.h"

namespace shardwise {

// By the first entry of weight_map: Keras maps "/layers/x/vars" to .weights.h5 files or lists of them. Reads the file
// up to OpenOptions::max_header_bytes. Errors: as sniff().
Result<Format> sniff_json(const File& file, const OpenOptions& options);

}  // namespace shardwise
