// The units that Python's re parser reads: a character, or a backslash with the character behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise {

struct RegexToken {
  char32_t c = 0;
  bool escaped = false;  // written "\c"
  bool is(char32_t plain) const { return !escaped && c == plain; }
};

// Thread-compatible. Owns the pattern's characters.
class RegexTokens {
 public:
  // Errors: INVALID_ARGUMENT for bytes that are not UTF-8, and for a backslash at the end.
  static Result<RegexTokens> create(std::string_view pattern);

  bool at_end() const { return position_ >= text_.size(); }
  // Characters before the next token, as Python counts positions.
  std::size_t position() const { return position_; }
  void seek(std::size_t position) { position_ = position; }

  // The next token; nullopt at the end. get() also steps over it.
  std::optional<RegexToken> peek() const;
  std::optional<RegexToken> get();
  // Steps over the next token when it is the unescaped `c`.
  bool match(char32_t c);
  // The next token when it is an unescaped ASCII digit (of base 8, 10 or 16), stepped over; -1 otherwise.
  int match_digit(int base);

 private:
  std::u32string text_;
  std::size_t position_ = 0;
};

// An escape that stands for one character or a set, inside or outside of brackets. kBackreference only outside.
struct RegexEscape {
  enum class Kind : std::uint8_t { kCharacter, kCategory, kAnchor, kBackreference } kind = Kind::kCharacter;
  char32_t value = 0;  // the character; the letter of the category (dDsSwW) or anchor (AbBZ); the group number
};
enum class RegexPlace : std::uint8_t { kOutside, kInSet };
// Reads what follows `token`, an escaped token just taken. Errors: INVALID_ARGUMENT, without position.
Result<RegexEscape> read_escape(RegexTokens& tokens, RegexToken token, RegexPlace place);

}  // namespace shardwise
