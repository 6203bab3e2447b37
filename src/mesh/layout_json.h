// Layout files as data: what the JSON text says, before any mesh is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/layout.h"
#include "shardwise/status.h"

namespace shardwise {

struct LayoutFile {
  struct Rule {
    std::string key;
    TensorLayout layout;
    std::size_t offset = 0;  // of the key in the text
  };
  std::vector<Rule> rules;  // in the order of the text; keys may repeat
  std::optional<MatchDialect> dialect;
  std::optional<Uneven> uneven;
};

// Errors: INVALID_ARGUMENT with every problem, one per line, each with line and column; texts over 16 MiB.
Result<LayoutFile> read_layout_json(std::string_view text);

// "line 3, column 14".
std::string text_position(std::string_view text, std::size_t offset);

}  // namespace shardwise
