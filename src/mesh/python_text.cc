#include "mesh/python_text.h"

#include <array>

#include "base/format.h"

namespace shardwise {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
// What str.isprintable() denies and paths can be expected to hold: controls, format characters, blanks other than the
// space, surrogates, private use.
constexpr std::array<Range, 13> kUnprintable = {{{0x00, 0x1f},
                                                 {0x7f, 0xa0},
                                                 {0xad, 0xad},
                                                 {0x1680, 0x1680},
                                                 {0x180e, 0x180e},
                                                 {0x2000, 0x200f},
                                                 {0x2028, 0x202f},
                                                 {0x205f, 0x206f},
                                                 {0x3000, 0x3000},
                                                 {0xd800, 0xf8ff},
                                                 {0xfeff, 0xfeff},
                                                 {0xfff0, 0xfffb},
                                                 {0xe0000, 0x10ffff}}};

bool is_printable(char32_t c) {
  for (const Range& range : kUnprintable) {
    if (c >= range.first && c <= range.last) return false;
  }
  return true;
}

std::string escaped(char32_t c) {
  const auto value = static_cast<std::uint32_t>(c);
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (value < 0x100) return format("\\x{:02x}", value);
  return value < 0x10000 ? format("\\u{:04x}", value) : format("\\U{:08x}", value);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    if (!out.empty()) out += ", ";
    out += python_repr(text);
  }
  return out;
}

// Lead byte -> number of bytes and its own bits; 0 bytes for a byte that cannot lead.
CodePoint lead(unsigned char byte) {
  if (byte < 0x80) return {byte, 1};
  if (byte >= 0xc2 && byte < 0xe0) return {byte & 0x1fu, 2};
  if (byte >= 0xe0 && byte < 0xf0) return {byte & 0x0fu, 3};
  if (byte >= 0xf0 && byte < 0xf5) return {byte & 0x07u, 4};
  return {};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t offset) {
  CodePoint point = lead(static_cast<unsigned char>(text[offset]));
  if (point.length > text.size() - offset) return {};
  for (std::size_t i = 1; i < point.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[offset + i]);
    if ((byte & 0xc0) != 0x80) return {};
    point.value = (point.value << 6) | (byte & 0x3fu);
  }
  const bool overlong = (point.length == 3 && point.value < 0x800) || (point.length == 4 && point.value < 0x10000);
  if (overlong || (point.value >= 0xd800 && point.value < 0xe000) || point.value > 0x10ffff) return {};
  return point;
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto v = static_cast<std::uint32_t>(value);
  if (v < 0x80) return put(v);
  if (v < 0x800) {
    put(0xc0 | (v >> 6));
  } else if (v < 0x10000) {
    put(0xe0 | (v >> 12));
    put(0x80 | ((v >> 6) & 0x3f));
  } else {
    put(0xf0 | (v >> 18));
    put(0x80 | ((v >> 12) & 0x3f));
    put(0x80 | ((v >> 6) & 0x3f));
  }
  put(0x80 | (v & 0x3f));
}

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (point.length == 0) {
      out += format("\\x{:02x}", static_cast<unsigned char>(text[i++]));
      continue;
    }
    if (point.value == static_cast<char32_t>(quote) || point.value == '\\') out += '\\';
    if (is_printable(point.value)) {
      out += text.substr(i, point.length);
    } else {
      out += escaped(point.value);
    }
    i += point.length;
  }
  return out + quote;
}

std::string python_set(const std::vector<std::string>& texts) {
  return texts.empty() ? "set()" : format("{{{}}}", joined(texts));
}

std::string python_list(const std::vector<std::string>& texts) { return format("[{}]", joined(texts)); }

}  // namespace shardwise
