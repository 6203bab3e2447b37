// One rule's key, compiled: does it match a path?
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/python_regex.h"
#include "shardwise/layout.h"
#include "shardwise/status.h"

namespace shardwise {

inline constexpr std::size_t kMaxPatternBytes = 4096;
inline constexpr std::size_t kMaxPathBytes = 4096;

// Working memory of matches, made when first needed. Thread-compatible; one for many patterns.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  MatchScratch(const MatchScratch&) = delete;
  MatchScratch& operator=(const MatchScratch&) = delete;

 private:
  friend class Pattern;
  struct State;
  std::unique_ptr<State> state_;
};

// A Python regular expression. Immutable, thread-safe.
class Pattern {
 public:
  // Errors: INVALID_ARGUMENT for what translate_python_regex() refuses, for a key over kMaxPatternBytes, and for one
  // that PCRE2 finds too large.
  static Result<Pattern> compile(std::string_view key, MatchDialect dialect);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // False when the path cannot match: cheap, and enough for most paths; ask it first.
  bool may_match(std::string_view path) const;
  // Precondition: `path` is UTF-8 (see utf8_path). Errors: RESOURCE_EXHAUSTED when a limit of the match is reached.
  Result<bool> matches(std::string_view path, MatchScratch& scratch) const;

 private:
  Pattern();
  struct State;
  std::unique_ptr<State> state_;
};

// `path` with each byte that is not part of UTF-8 replaced by a private-use character of its own (no letter, digit or
// space, as the surrogates that Python puts there). Returns `path` itself, or `storage` when something was replaced.
std::string_view utf8_path(std::string_view path, std::string& storage);

}  // namespace shardwise
