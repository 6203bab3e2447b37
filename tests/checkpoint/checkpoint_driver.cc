// Opens the checkpoints that its arguments name; one line of JSON for each: what was found, or the status.
#include <iostream>
#include <nlohmann/json.hpp>

#include "shardwise/checkpoint.h"

int main(int argc, char** argv) {
  using nlohmann::json;
  for (int i = 1; i < argc; ++i) {
    const auto catalog = shardwise::open_checkpoint(argv[i]);
    json out = {{"code", to_string(catalog.status().code())}, {"message", catalog.status().message()}};
    if (catalog.ok()) {
      out["format"] = catalog->format;
      out["warnings"] = catalog->warnings;
      for (const auto& tensor : catalog->tensors) {
        out["tensors"][tensor.name] = {shardwise::to_string(tensor.dtype), tensor.shape};
      }
    }
    std::cout << out.dump(-1, ' ', true, json::error_handler_t::replace) << '\n';
  }
  return 0;
}
