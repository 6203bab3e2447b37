// Python's regular expressions (re, str patterns, Python 3.11) rewritten for PCRE2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shardwise/status.h"

namespace shardwise {

struct TranslatedRegex {
  // For PCRE2 with UTF, UCP, DOTALL, ALT_CIRCUMFLEX and newline LF: matches what Python's re matches. Groups have the
  // same numbers and no names.
  std::string pcre2;
  // Texts that every match contains in this order, none overlapping another: a cheap test before the real one.
  std::vector<std::string> literals;
  bool starts_with_literal = false;  // every match begins with the first of `literals`
  bool ends_with_literal = false;    // every match ends with the last
};

// Errors: INVALID_ARGUMENT with Python's words and position for what Python refuses, and for what cannot be mirrored:
// characters by name, surrogates, case-insensitive characters above ASCII, back-references that ignore case or stand in
// a lookbehind, conditions on an open group or in a lookbehind, group names above ASCII, more than 200 nested groups,
// repeat counts over 65535.
Result<TranslatedRegex> translate_python_regex(std::string_view pattern);

}  // namespace shardwise
