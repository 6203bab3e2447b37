#include "mesh/regex_set.h"

#include <algorithm>

#include "base/format.h"
#include "mesh/python_text.h"

namespace shardwise {
namespace {

bool is_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string hex(char32_t c) { return format("\\x{{{:x}}}", static_cast<std::uint32_t>(c)); }

std::string character(char32_t c) {
  const bool plain = is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '/';
  return plain ? std::string(1, static_cast<char>(c)) : hex(c);
}

// Every other spelling of an ASCII letter that Python's re takes for the same when case is ignored. Above ASCII these
// are the characters whose simple lower case is an ASCII letter (U+0130, U+212A), and dotless i and long s.
std::string other_cases(char32_t letter, RegexFlags flags) {
  std::string out(1, static_cast<char>(letter ^ 0x20u));
  if (flags.ascii) return out;
  switch (letter | 0x20u) {
    case 'i':
      return out + "\\x{130}\\x{131}";
    case 'k':
      return out + "\\x{212a}";
    case 's':
      return out + "\\x{17f}";
    default:
      return out;
  }
}

Status refuse_folding(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return invalid_argument("'{}' is not ASCII: ignoring case is supported for ASCII characters only", text);
}

Result<std::string> range_text(char32_t first, char32_t last, RegexFlags flags) {
  std::string out = first == last ? character(first) : hex(first) + "-" + hex(last);
  if (!flags.ignore_case) return out;
  if (last >= 0x80 && !flags.ascii) return refuse_folding(last);
  for (char32_t c = first; c <= std::min<char32_t>(last, 0x7f); ++c) {
    if (is_letter(c)) out += other_cases(c, flags);
  }
  return out;
}

struct SetItem {
  bool is_character = true;
  char32_t value = 0;  // a character, or the letter of a category
};

Result<SetItem> read_item(RegexTokens& tokens, RegexToken token) {
  if (!token.escaped) return SetItem{true, token.c};
  SHARDWISE_ASSIGN_OR_RETURN(const RegexEscape escape, read_escape(tokens, token, RegexPlace::kInSet));
  return SetItem{escape.kind == RegexEscape::Kind::kCharacter, escape.value};
}

Result<std::string> item_text(SetItem item, RegexFlags flags) {
  if (!item.is_character) return category_text(item.value, flags);
  return range_text(item.value, item.value, flags);
}

std::string spelled(RegexToken token) {
  std::string out = token.escaped ? "\\" : "";
  append_utf8(out, token.c);
  return out;
}

Status unterminated() { return invalid_argument("unterminated character set"); }

// One item, or a range, or an item and a last "-". Sets `done` when the closing bracket was taken too.
Result<std::string> read_member(RegexTokens& tokens, RegexToken token, RegexFlags flags, bool& done) {
  SHARDWISE_ASSIGN_OR_RETURN(const SetItem first, read_item(tokens, token));
  if (!tokens.match('-')) return item_text(first, flags);
  const auto next = tokens.get();
  if (!next) return unterminated();
  if (next->is(']')) {
    done = true;
    SHARDWISE_ASSIGN_OR_RETURN(const std::string text, item_text(first, flags));
    return text + hex('-');
  }
  SHARDWISE_ASSIGN_OR_RETURN(const SetItem last, read_item(tokens, *next));
  if (!first.is_character || !last.is_character || last.value < first.value) {
    return invalid_argument("bad character range {}-{}", spelled(token), spelled(*next));
  }
  return range_text(first.value, last.value, flags);
}

}  // namespace

Result<std::string> literal_text(char32_t c, RegexFlags flags) {
  if (!flags.ignore_case || (flags.ascii && c >= 0x80)) return character(c);
  if (c >= 0x80) return refuse_folding(c);
  if (!is_letter(c)) return character(c);
  return format("[{}{}]", static_cast<char>(c), other_cases(c, flags));
}

std::string category_text(char32_t letter, RegexFlags flags) {
  // str.isspace(), which differs from PCRE2's \s in U+001C..U+001F and U+180E.
  constexpr const char* kSpace =
      "\\x{9}-\\x{d}\\x{1c}-\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{"
      "3000}";
  constexpr const char* kNoSpace =
      "\\x{0}-\\x{8}\\x{e}-\\x{1b}\\x{21}-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"
      "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}";
  switch (letter) {
    case 'd':
      return flags.ascii ? "0-9" : "\\d";
    case 'D':
      return flags.ascii ? "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}" : "\\D";
    case 's':
      return flags.ascii ? "\\x{9}-\\x{d}\\x{20}" : kSpace;
    case 'S':
      return flags.ascii ? "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}" : kNoSpace;
    case 'w':
      return flags.ascii ? "a-zA-Z0-9_" : "\\w";
    default:
      return flags.ascii ? "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}" : "\\W";
  }
}

Result<std::string> read_set(RegexTokens& tokens, RegexFlags flags) {
  std::string out = tokens.match('^') ? "[^" : "[";
  bool done = false;
  for (bool first = true; !done; first = false) {
    const auto token = tokens.get();
    if (!token) return unterminated();
    if (token->is(']') && !first) break;
    SHARDWISE_ASSIGN_OR_RETURN(const std::string member, read_member(tokens, *token, flags, done));
    out += member;
  }
  return out + "]";
}

}  // namespace shardwise
