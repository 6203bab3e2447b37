// Names of storage encodings, for people.
#pragma once

#include <cstdint>
#include <string>

#include "shardwise/catalog.h"

namespace shardwise::cli {

// "shuffle+deflate": the filters of catalog.encodings[encoding], in the order of writing.
std::string encoding_name(const Catalog& catalog, std::uint32_t encoding);

}  // namespace shardwise::cli
