// Sets of characters of Python's re, written for PCRE2.
#pragma once

#include <string>

#include "mesh/regex_tokens.h"
#include "shardwise/status.h"

namespace shardwise {

// Flags in force at one place of a pattern.
struct RegexFlags {
  bool ignore_case = false;
  bool multiline = false;
  bool dotall = false;
  bool verbose = false;
  bool ascii = false;
};

// The text of one character outside of brackets, e.g. "a", "\x{2e}"; "[kK\x{212a}]" when case is ignored.
// Errors: INVALID_ARGUMENT for a character above ASCII when case is ignored: the two libraries fold those differently.
Result<std::string> literal_text(char32_t c, RegexFlags flags);

// The text of \d, \D, \s, \S, \w or \W (by its letter) inside brackets.
std::string category_text(char32_t letter, RegexFlags flags);

// Reads a set whose "[" was just taken, to its "]". Errors: INVALID_ARGUMENT, without position.
Result<std::string> read_set(RegexTokens& tokens, RegexFlags flags);

}  // namespace shardwise
