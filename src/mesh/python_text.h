// Text as Python prints it, for messages that Keras users know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

// repr() of a str: "'a/b'", "'\\\\d+'", "\"it's\"". Bytes that are not UTF-8 print as \xhh.
std::string python_repr(std::string_view text);

// "{'batch', 'model'}" and "['batch', 'model']" of the texts in this order; "set()" and "[]" of none.
std::string python_set(const std::vector<std::string>& texts);
std::string python_list(const std::vector<std::string>& texts);

// One code point of UTF-8 at `offset`, and how many bytes it takes; length 0 when the bytes there are not UTF-8
// (overlong forms, surrogates and values over U+10FFFF are not). Precondition: offset < text.size().
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
CodePoint decode_utf8(std::string_view text, std::size_t offset);
void append_utf8(std::string& out, char32_t value);

}  // namespace shardwise
