// Names of element types in safetensors headers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shardwise/dtype.h"

namespace shardwise::safetensors {

// "BF16" -> kBfloat16; nullopt for a name that safetensors 0.8 does not know.
std::optional<DType> parse_dtype(std::string_view name);
// The reverse; empty for types that the format cannot hold (int4, uint4, complex128).
std::string_view dtype_name(DType dtype);
// All names, separated by blanks, for messages.
std::string known_dtypes();

}  // namespace shardwise::safetensors
