// Safetensors files for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardwise::safetensors {

// The 8 bytes of a header length.
inline std::string length_field(std::uint64_t length) {
  return {reinterpret_cast<const char*>(&length), sizeof length};
}

// A file: length, header and data.
inline std::string file_of(std::string_view json, std::string_view data = {}) {
  std::string out = length_field(json.size());
  out += json;
  out += data;
  return out;
}

}  // namespace shardwise::safetensors
