// The rules of the built-in layouts: tables of plain data, one file per family of models.
#pragma once

#include <span>
#include <string_view>

namespace shardwise {

// `axes` names one entry per dimension: "model", "batch" or "-" (whole), separated by blanks. The two are roles; they
// become the mesh's axes when the layout is made.
struct BuiltinRule {
  std::string_view key;
  std::string_view axes;
};

std::span<const BuiltinRule> gemma_rules();
std::span<const BuiltinRule> llama_rules();
std::span<const BuiltinRule> bert_rules();

}  // namespace shardwise
