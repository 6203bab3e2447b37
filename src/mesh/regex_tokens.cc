#include "mesh/regex_tokens.h"

#include "base/format.h"
#include "mesh/python_text.h"

namespace shardwise {
namespace {

int digit_value(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return 99;
}

std::string spelled(char32_t c) {
  std::string out = "\\";
  append_utf8(out, c);
  return out;
}

// \xhh, \uhhhh, \Uhhhhhhhh: exactly `digits` digits.
Result<RegexEscape> read_hex(RegexTokens& tokens, char32_t letter, int digits) {
  std::uint64_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = tokens.match_digit(16);
    if (digit < 0) return invalid_argument("incomplete escape {}", spelled(letter));
    value = value * 16 + static_cast<unsigned>(digit);
  }
  if (value > 0x10ffff) return invalid_argument("bad escape {}", spelled(letter));
  if (value >= 0xd800 && value < 0xe000) {
    return invalid_argument("{} names a surrogate, which no path holds", spelled(letter));
  }
  return RegexEscape{RegexEscape::Kind::kCharacter, static_cast<char32_t>(value)};
}

Result<RegexEscape> octal(int value) {
  if (value > 0377) return invalid_argument("octal escape value \\{:o} outside of range 0-0o377", value);
  return RegexEscape{RegexEscape::Kind::kCharacter, static_cast<char32_t>(value)};
}

// Up to two more octal digits.
Result<RegexEscape> read_octal(RegexTokens& tokens, int value) {
  for (int i = 0; i < 2; ++i) {
    const int digit = tokens.match_digit(8);
    if (digit < 0) break;
    value = value * 8 + digit;
  }
  return octal(value);
}

// A digit outside of brackets: \0 is octal, three octal digits are octal, anything else is a group number.
Result<RegexEscape> read_octal_or_group(RegexTokens& tokens, int first) {
  if (first == 0) return read_octal(tokens, 0);
  const int second = tokens.match_digit(10);
  if (second < 0) return RegexEscape{RegexEscape::Kind::kBackreference, static_cast<char32_t>(first)};
  if (first < 8 && second < 8) {
    const int third = tokens.match_digit(8);
    if (third >= 0) return octal(first * 64 + second * 8 + third);
  }
  return RegexEscape{RegexEscape::Kind::kBackreference, static_cast<char32_t>(first * 10 + second)};
}

std::optional<char32_t> control_character(char32_t letter) {
  switch (letter) {
    case 'a':
      return U'\a';
    case 'f':
      return U'\f';
    case 'n':
      return U'\n';
    case 'r':
      return U'\r';
    case 't':
      return U'\t';
    case 'v':
      return U'\v';
    case '\\':
      return U'\\';
    default:
      return std::nullopt;
  }
}

bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

Result<RegexTokens> RegexTokens::create(std::string_view pattern) {
  RegexTokens tokens;
  for (std::size_t i = 0; i < pattern.size();) {
    const CodePoint point = decode_utf8(pattern, i);
    if (point.length == 0) return invalid_argument("byte {} is not UTF-8", i);
    tokens.text_ += point.value;
    i += point.length;
  }
  for (std::size_t i = 0; i < tokens.text_.size(); ++i) {
    if (tokens.text_[i] == '\\' && ++i == tokens.text_.size()) {
      return invalid_argument("bad escape (end of pattern) at position {}", i - 1);
    }
  }
  return tokens;
}

std::optional<RegexToken> RegexTokens::peek() const {
  if (at_end()) return std::nullopt;
  if (text_[position_] != '\\' || position_ + 1 >= text_.size()) return RegexToken{text_[position_], false};
  return RegexToken{text_[position_ + 1], true};
}

std::optional<RegexToken> RegexTokens::get() {
  const auto token = peek();
  if (token) position_ += token->escaped ? 2u : 1u;
  return token;
}

bool RegexTokens::match(char32_t c) {
  const auto token = peek();
  if (!token || !token->is(c)) return false;
  ++position_;
  return true;
}

int RegexTokens::match_digit(int base) {
  const auto token = peek();
  if (!token || token->escaped) return -1;
  const int value = digit_value(token->c);
  if (value >= base) return -1;
  ++position_;
  return value;
}

Result<RegexEscape> read_escape(RegexTokens& tokens, RegexToken token, RegexPlace place) {
  const bool outside = place == RegexPlace::kOutside;
  const char32_t c = token.c;
  if (const auto control = control_character(c)) return RegexEscape{RegexEscape::Kind::kCharacter, *control};
  if (c == 'b' && !outside) return RegexEscape{RegexEscape::Kind::kCharacter, U'\b'};
  if (outside && (c == 'A' || c == 'b' || c == 'B' || c == 'Z')) return RegexEscape{RegexEscape::Kind::kAnchor, c};
  if (c < 0x80 && std::string_view("dDsSwW").find(static_cast<char>(c)) != std::string_view::npos) {
    return RegexEscape{RegexEscape::Kind::kCategory, c};
  }
  if (c == 'x') return read_hex(tokens, c, 2);
  if (c == 'u') return read_hex(tokens, c, 4);
  if (c == 'U') return read_hex(tokens, c, 8);
  if (c == 'N') return invalid_argument("\\N{{...}} (a character by name) is not supported; write the character");
  if (c >= '0' && c <= '9') {
    const auto digit = static_cast<int>(c - '0');
    if (outside) return read_octal_or_group(tokens, digit);
    if (digit < 8) return read_octal(tokens, digit);
    return invalid_argument("bad escape {}", spelled(c));
  }
  if (is_ascii_letter(c)) return invalid_argument("bad escape {}", spelled(c));
  return RegexEscape{RegexEscape::Kind::kCharacter, c};
}

}  // namespace shardwise
