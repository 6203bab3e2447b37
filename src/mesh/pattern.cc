#include "mesh/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "mesh/python_text.h"

namespace shardwise {
namespace {

// Steps, nested choices and KiB that one match may use. Layout rules need under a hundred steps per path; the limits
// hold a hostile pattern to some tens of milliseconds.
constexpr std::uint32_t kMatchLimit = 500'000;
constexpr std::uint32_t kDepthLimit = 100'000;
constexpr std::uint32_t kHeapLimitKiB = 32 * 1024;

template <typename T, void (*free_function)(T*)>
struct Free {
  void operator()(T* p) const { free_function(p); }
};
using CodePtr = std::unique_ptr<pcre2_code, Free<pcre2_code, pcre2_code_free>>;
using DataPtr = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data, pcre2_match_data_free>>;
using CompileContextPtr =
    std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context, pcre2_compile_context_free>>;
using MatchContextPtr = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context, pcre2_match_context_free>>;

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

Status out_of_memory() { return resource_exhausted("no memory to compile a layout pattern"); }

Result<CodePtr> compile_pcre2(const std::string& text, MatchDialect dialect) {
  const CompileContextPtr context(pcre2_compile_context_create(nullptr));
  if (!context) return out_of_memory();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  // Optimizations of PCRE2 10.42 that deny matches are off: it looks for a wrong first or last character of patterns
  // that begin with a lookahead ("(?=a)b*a" on "a"), and gives nothing back before optional atomic groups ("b*(?>a)?b"
  // on "b").
  std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_DOTALL | PCRE2_ALT_CIRCUMFLEX |
                          PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_START_OPTIMIZE | PCRE2_NO_AUTO_POSSESS |
                          PCRE2_NO_DOTSTAR_ANCHOR;
  if (dialect == MatchDialect::kFullMatch) options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  int code = 0;
  PCRE2_SIZE offset = 0;
  CodePtr compiled(pcre2_compile(units(text), text.size(), options, &code, &offset, context.get()));
  if (!compiled) return invalid_argument("not supported: {}", error_text(code));
  return compiled;
}

Result<MatchContextPtr> make_limits() {
  MatchContextPtr context(pcre2_match_context_create(nullptr));
  if (!context) return out_of_memory();
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_depth_limit(context.get(), kDepthLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKiB);
  return context;
}

}  // namespace

struct MatchScratch::State {
  DataPtr data;
};
MatchScratch::MatchScratch() = default;
MatchScratch::~MatchScratch() = default;

struct Pattern::State {
  std::string key;
  MatchDialect dialect = MatchDialect::kFullMatch;
  TranslatedRegex regex;
  CodePtr code;
  MatchContextPtr limits;
};
Pattern::Pattern() : state_(std::make_unique<State>()) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::compile(std::string_view key, MatchDialect dialect) {
  if (key.size() > kMaxPatternBytes) {
    return invalid_argument("the key has {} bytes, over the limit of {}", key.size(), kMaxPatternBytes);
  }
  Pattern out;
  out.state_->key = key;
  out.state_->dialect = dialect;
  SHARDWISE_ASSIGN_OR_RETURN(out.state_->regex, translate_python_regex(key));
  SHARDWISE_ASSIGN_OR_RETURN(out.state_->code, compile_pcre2(out.state_->regex.pcre2, dialect));
  SHARDWISE_ASSIGN_OR_RETURN(out.state_->limits, make_limits());
  return out;
}

bool Pattern::may_match(std::string_view path) const {
  const TranslatedRegex& regex = state_->regex;
  if (regex.literals.empty()) return true;
  std::size_t begin = 0;
  std::size_t end = path.size();
  std::size_t first = 0;
  std::size_t last = regex.literals.size();
  const bool whole = state_->dialect == MatchDialect::kFullMatch;
  if (whole && regex.starts_with_literal) {
    const std::string& prefix = regex.literals[first++];
    if (!path.starts_with(prefix)) return false;
    begin = prefix.size();
  }
  if (whole && regex.ends_with_literal && last > first) {
    const std::string& suffix = regex.literals[--last];
    if (end - begin < suffix.size() || !path.ends_with(suffix)) return false;
    end -= suffix.size();
  }
  for (; first < last; ++first) {
    const std::string& literal = regex.literals[first];
    const auto found = path.substr(0, end).find(literal, begin);
    if (found == std::string_view::npos) return false;
    begin = found + literal.size();
  }
  return true;
}

Result<bool> Pattern::matches(std::string_view path, MatchScratch& scratch) const {
  if (!scratch.state_) {
    scratch.state_ = std::make_unique<MatchScratch::State>();
    scratch.state_->data.reset(pcre2_match_data_create(1, nullptr));
  }
  pcre2_match_data* data = scratch.state_->data.get();
  if (data == nullptr) return resource_exhausted("no memory to match layout patterns");
  const int result =
      pcre2_match(state_->code.get(), units(path), path.size(), 0, PCRE2_NO_UTF_CHECK, data, state_->limits.get());
  if (result >= 0) return true;
  if (result == PCRE2_ERROR_NOMATCH) return false;
  return resource_exhausted("Matching path '{}' with layout pattern {} was given up ({}); write a simpler pattern",
                            printable(path), python_repr(printable(state_->key)), error_text(result));
}

std::string_view utf8_path(std::string_view path, std::string& storage) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(path.begin(), path.end(), is_ascii)) return path;
  storage.clear();
  for (std::size_t i = 0; i < path.size();) {
    const CodePoint point = decode_utf8(path, i);
    if (point.length == 0) {
      append_utf8(storage, 0x10f000u + static_cast<unsigned char>(path[i++]));
    } else {
      storage += path.substr(i, point.length);
      i += point.length;
    }
  }
  return storage;
}

}  // namespace shardwise
