// JSON documents of --json: one per run, on stdout.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/exit_code.h"
#include "shardwise/catalog.h"

namespace shardwise::cli {

using Json = nlohmann::ordered_json;

// Indented text. Names that are not UTF-8 get replacement characters.
std::string dump(const Json& document);

// {"code": "DATA_LOSS", "message": "...", "exit_code": 4}: the value of "error" in every document that reports one.
Json error_json(const StageStatus& outcome);

// Where a tensor's bytes lie: [{"file": 0, "begin": 8, "end": 136}], one entry per stored extent, at most `limit`.
Json extents_json(const Catalog& catalog, const TensorInfo& tensor, std::size_t limit);

}  // namespace shardwise::cli
