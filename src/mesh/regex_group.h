// What stands behind an opening parenthesis of Python's re: "(?P<name>", "(?<=", "(?i-s:" and so on.
#pragma once

#include <cstdint>
#include <string>

#include "mesh/regex_set.h"
#include "mesh/regex_tokens.h"
#include "shardwise/status.h"

namespace shardwise {

struct RegexGroupHead {
  enum class Kind : std::uint8_t {
    kCapture,
    kPlain,          // (?: and (?flags:
    kAtomic,         // (?>
    kLookahead,      // (?=
    kNotLookahead,   // (?!
    kLookbehind,     // (?<=
    kNotLookbehind,  // (?<!
    kCondition,      // (?(name)
    kBackreference,  // (?P=name), complete
    kComment,        // (?#...), complete
    kGlobalFlags,    // (?flags), complete
  } kind = Kind::kCapture;
  std::string name;      // kCapture: empty without one; kCondition: a name or digits; kBackreference
  std::string flags_on;  // letters of "imsxau"
  std::string flags_off;
};

// Reads it; the "(" was just taken. Errors: INVALID_ARGUMENT, without position.
Result<RegexGroupHead> read_group_head(RegexTokens& tokens);

RegexFlags changed(RegexFlags flags, const RegexGroupHead& head);

}  // namespace shardwise
