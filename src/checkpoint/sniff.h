// Which format a file has, by its content.
#pragma once

#include <cstdint>

#include "shardwise/checkpoint.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise {

enum class Format : std::uint8_t { kSafetensors, kSafetensorsIndex, kKerasIndex, kHdf5, kZip };

// Errors: UNIMPLEMENTED naming a format that is recognised and not supported (pickle, .npz, GGUF, ...); DATA_LOSS for
// an empty file, an unknown one, and JSON that is no index; RESOURCE_EXHAUSTED for JSON above the cap. Messages do not
// name the file.
Result<Format> sniff(const File& file, const OpenOptions& options);

}  // namespace shardwise
