#include "mesh/python_regex.h"

#include <map>
#include <optional>

#include "base/format.h"
#include "mesh/python_text.h"
#include "mesh/regex_group.h"
#include "mesh/regex_set.h"
#include "mesh/regex_tokens.h"
#include "mesh/regex_width.h"

namespace shardwise {
namespace {

using Kind = RegexGroupHead::Kind;

constexpr std::size_t kMaxNesting = 200;     // PCRE2 refuses 250
constexpr std::uint64_t kMaxRepeat = 65535;  // PCRE2's limit
constexpr std::uint64_t kNoLimit = RegexWidth::kMost;

struct Repeat {
  std::uint64_t least = 0;
  std::uint64_t most = kNoLimit;
};

// An open group; the first of the stack is the pattern itself.
struct Frame {
  Kind kind = Kind::kPlain;
  std::uint32_t group = 0;     // of kCapture
  RegexFlags flags;            // in force inside
  std::size_t start = 0;       // position of its "("
  std::size_t text_start = 0;  // of the group in the text for PCRE2
  int branches = 1;
  RegexWidth done;    // the finished branches
  RegexWidth branch;  // the current branch, without its last item
  RegexWidth last_width;
  std::size_t last_start = 0;  // of the last item in the text for PCRE2
  enum class Last : std::uint8_t { kNone, kItem, kAnchor, kRepeated } last = Last::kNone;

  RegexWidth width() const {
    const RegexWidth current = branch.then(last_width);
    return branches == 1 ? current : done.either(current);
  }
};

// The literal runs of the outermost branch.
class Runs {
 public:
  void literal(char32_t c, bool first) {
    if (!open_) {
      runs_.emplace_back();
      if (first) starts_ = true;
    }
    last_size_ = runs_.back().size();
    append_utf8(runs_.back(), c);
    open_ = last_is_literal_ = true;
  }
  void other() { open_ = last_is_literal_ = false; }
  // The last item is repeated: a literal no longer counts.
  void repeat() {
    if (last_is_literal_) {
      runs_.back().resize(last_size_);
      if (runs_.back().empty()) runs_.pop_back();
      if (runs_.empty()) starts_ = false;
    }
    other();
  }
  void alternatives() { usable_ = false; }
  void give(TranslatedRegex& out) {
    if (!usable_ || runs_.empty()) return;
    out.literals = std::move(runs_);
    out.starts_with_literal = starts_;
    out.ends_with_literal = open_;
  }

 private:
  std::vector<std::string> runs_;
  std::size_t last_size_ = 0;  // of the last run before its last character
  bool open_ = false;
  bool last_is_literal_ = false;
  bool starts_ = false;
  bool usable_ = true;
};

// One pass over the tokens with a stack of open groups. Used once.
class Translator {
 public:
  explicit Translator(RegexTokens tokens) : tokens_(std::move(tokens)) {}

  Result<TranslatedRegex> run() {
    frames_.emplace_back();
    while (true) {
      item_start_ = tokens_.position();
      const auto token = tokens_.get();
      if (!token) break;
      if (Status status = step(*token); !status.ok()) return at(status, item_start_);
    }
    if (frames_.size() > 1) {
      return at(invalid_argument("missing ), unterminated subpattern"), frames_.back().start);
    }
    for (const auto& [group, position] : conditions_) {
      if (group > groups_) return at(invalid_argument("invalid group reference {}", group), position);
    }
    runs_.give(out_);
    return std::move(out_);
  }

 private:
  static Status at(const Status& status, std::size_t position) {
    return Status(status.code(), format("{} at position {}", status.message(), position));
  }

  Frame& top() { return frames_.back(); }
  bool at_root() const { return frames_.size() == 1; }

  Status step(RegexToken token) {
    if (token.escaped) return escape(token);
    if (token.c == '|') return next_branch();
    if (token.c == ')') return close_group();
    if (top().flags.verbose && skips(token.c)) return {};
    switch (token.c) {
      case '[':
        return set();
      case '(':
        return open_group();
      case '.':
        return put(top().flags.dotall ? "." : "\\N", {1, 1});
      case '^':
        return anchor(top().flags.multiline ? "(?m:^)" : "\\A");
      case '$':
        return anchor(top().flags.multiline ? "(?m:$)" : "\\Z");
      case '*':
        return repeat({0, kNoLimit});
      case '+':
        return repeat({1, kNoLimit});
      case '?':
        return repeat({0, 1});
      case '{':
        return brace();
      default:
        return literal(token.c);
    }
  }

  // Blanks and comments of a verbose pattern.
  bool skips(char32_t c) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) return true;
    if (c != '#') return false;
    while (const auto token = tokens_.get()) {
      if (token->is('\n')) break;
    }
    return true;
  }

  // ---- items ----

  // Makes room for a new last item.
  void settle(RegexWidth width, Frame::Last last, std::size_t start) {
    top().last_start = start;
    top().branch = top().branch.then(top().last_width);
    top().last_width = width;
    top().last = last;
  }

  Status put(std::string_view text, RegexWidth width) { return put_from(out_.pcre2.size(), text, width); }

  // As put(), for an item that began at `start` of the text.
  Status put_from(std::size_t start, std::string_view text, RegexWidth width) {
    settle(width, Frame::Last::kItem, start);
    if (at_root()) runs_.other();
    out_.pcre2 += text;
    return {};
  }

  Status anchor(std::string_view text) {
    settle({}, Frame::Last::kAnchor, out_.pcre2.size());
    if (at_root()) runs_.other();
    out_.pcre2 += text;
    return {};
  }

  Status literal(char32_t c) {
    SHARDWISE_ASSIGN_OR_RETURN(const std::string text, literal_text(c, top().flags));
    const bool first = top().last == Frame::Last::kNone;
    settle({1, 1}, Frame::Last::kItem, out_.pcre2.size());
    out_.pcre2 += text;
    if (!at_root()) return {};
    if (top().flags.ignore_case) {
      runs_.other();
    } else {
      runs_.literal(c, first);
    }
    return {};
  }

  Status set() {
    SHARDWISE_ASSIGN_OR_RETURN(const std::string text, read_set(tokens_, top().flags));
    return put(text, {1, 1});
  }

  Status escape(RegexToken token) {
    SHARDWISE_ASSIGN_OR_RETURN(const RegexEscape escape, read_escape(tokens_, token, RegexPlace::kOutside));
    switch (escape.kind) {
      case RegexEscape::Kind::kCharacter:
        return literal(escape.value);
      case RegexEscape::Kind::kCategory:
        return put(format("[{}]", category_text(escape.value, top().flags)), {1, 1});
      case RegexEscape::Kind::kBackreference:
        return backreference(static_cast<std::uint32_t>(escape.value));
      case RegexEscape::Kind::kAnchor:
        break;
    }
    const std::string edge =
        top().flags.ascii ? "(?:(?<=[a-zA-Z0-9_])(?![a-zA-Z0-9_])|(?<![a-zA-Z0-9_])(?=[a-zA-Z0-9_]))" : "\\b";
    switch (escape.value) {
      case 'A':
        return anchor("\\A");
      case 'Z':
        return anchor("\\z");
      case 'b':
        return anchor(edge);
      // Until Python 3.14 \B does not match the empty string.
      default:
        return anchor(format("(?!{}|\\A\\z)", edge));
    }
  }

  Status backreference(std::uint32_t group) {
    if (group > groups_) return invalid_argument("invalid group reference {}", group);
    if (!widths_[group - 1]) return invalid_argument("cannot refer to an open group");
    if (lookbehinds_ > 0) return invalid_argument("a back-reference in a lookbehind is not supported");
    if (top().flags.ignore_case) return invalid_argument("a back-reference that ignores case is not supported");
    return put(format("\\g{{{}}}", group), *widths_[group - 1]);
  }

  // ---- repeats ----

  Result<std::optional<std::uint64_t>> read_count() {
    std::optional<std::uint64_t> count;
    for (int digit = tokens_.match_digit(10); digit >= 0; digit = tokens_.match_digit(10)) {
      count = count.value_or(0) * 10 + static_cast<unsigned>(digit);
      if (*count > kMaxRepeat) return invalid_argument("the repetition number is over {}", kMaxRepeat);
    }
    return count;
  }

  // "{": a repeat when it reads as {m}, {m,}, {,n} or {m,n}, else itself.
  Status brace() {
    const std::size_t behind = tokens_.position();
    const auto next = tokens_.peek();
    if (next && next->is('}')) return literal('{');
    SHARDWISE_ASSIGN_OR_RETURN(const auto least, read_count());
    std::optional<std::uint64_t> most = least;
    if (tokens_.match(',')) {
      SHARDWISE_ASSIGN_OR_RETURN(most, read_count());
    }
    if (!tokens_.match('}')) {
      tokens_.seek(behind);
      return literal('{');
    }
    if (least && most && *most < *least) return invalid_argument("min repeat greater than max repeat");
    return repeat({least.value_or(0), most.value_or(kNoLimit)});
  }

  Status repeat(Repeat count) {
    if (top().last == Frame::Last::kNone || top().last == Frame::Last::kAnchor) {
      return invalid_argument("nothing to repeat");
    }
    if (top().last == Frame::Last::kRepeated) return invalid_argument("multiple repeat");
    top().last_width = top().last_width.repeated(count.least, count.most);
    top().last = Frame::Last::kRepeated;
    if (at_root()) runs_.repeat();
    const std::string times =
        count.most == kNoLimit ? format("{{{},}}", count.least) : format("{{{},{}}}", count.least, count.most);
    const bool lazy = tokens_.match('?');
    const bool possessive = !lazy && tokens_.match('+');
    if (possessive) {
      // In Python not only the whole but each round of a possessive repeat gives nothing back.
      out_.pcre2.insert(top().last_start, "(?>");
      out_.pcre2 += ')';
    }
    out_.pcre2 += times + (lazy ? "?" : possessive ? "+" : "");
    return {};
  }

  // ---- groups ----

  Status next_branch() {
    Frame& frame = top();
    if (frame.kind == Kind::kCondition && frame.branches == 2) {
      return invalid_argument("conditional backref with more than two branches");
    }
    if (at_root()) runs_.alternatives();
    frame.done = frame.width();
    ++frame.branches;
    frame.branch = frame.last_width = {};
    frame.last = Frame::Last::kNone;
    out_.pcre2 += '|';
    return {};
  }

  Status open_group() {
    SHARDWISE_ASSIGN_OR_RETURN(const RegexGroupHead head, read_group_head(tokens_));
    if (head.kind == Kind::kComment) return {};
    if (head.kind == Kind::kGlobalFlags) return global_flags(head);
    if (head.kind == Kind::kBackreference) {
      const auto named = names_.find(head.name);
      if (named == names_.end()) return invalid_argument("unknown group name {}", python_repr(head.name));
      return backreference(named->second);
    }
    if (frames_.size() > kMaxNesting) return invalid_argument("more than {} nested groups", kMaxNesting);
    Frame frame;
    frame.kind = head.kind;
    frame.start = item_start_;
    frame.text_start = out_.pcre2.size();
    frame.flags = changed(top().flags, head);
    if (head.kind == Kind::kCapture) {
      frame.group = ++groups_;
      widths_.emplace_back();
      if (!head.name.empty() && !names_.emplace(head.name, groups_).second) {
        return invalid_argument("redefinition of group name {}", python_repr(head.name));
      }
    }
    if (head.kind == Kind::kLookbehind || head.kind == Kind::kNotLookbehind) ++lookbehinds_;
    SHARDWISE_ASSIGN_OR_RETURN(const std::string text, opening(head));
    out_.pcre2 += text;
    frames_.push_back(frame);
    return {};
  }

  Result<std::string> opening(const RegexGroupHead& head) {
    switch (head.kind) {
      case Kind::kCapture:
        return std::string("(");
      case Kind::kAtomic:
        return std::string("(?>");
      case Kind::kLookahead:
        return std::string("(?=");
      case Kind::kNotLookahead:
        return std::string("(?!");
      case Kind::kLookbehind:
        return std::string("(?<=");
      case Kind::kNotLookbehind:
        return std::string("(?<!");
      case Kind::kCondition:
        return condition(head.name);
      default:
        return std::string("(?:");
    }
  }

  Result<std::string> condition(const std::string& name) {
    if (lookbehinds_ > 0) return invalid_argument("a condition in a lookbehind is not supported");
    std::uint32_t group = 0;
    if (name[0] >= '0' && name[0] <= '9') {
      for (char c : name) {
        group = group * 10 + static_cast<std::uint32_t>(c - '0');
        if (group > kMaxRepeat) return invalid_argument("invalid group reference {}", name);
      }
      if (group == 0) return invalid_argument("bad group number");
      conditions_.emplace(group, item_start_);
    } else {
      const auto named = names_.find(name);
      if (named == names_.end()) return invalid_argument("unknown group name {}", python_repr(name));
      group = named->second;
    }
    if (group <= groups_ && !widths_[group - 1])
      return invalid_argument("a condition on an open group is not supported");
    return format("(?({})", group);
  }

  Status global_flags(const RegexGroupHead& head) {
    const bool at_start = at_root() && top().branches == 1 && top().last == Frame::Last::kNone;
    if (!at_start) return invalid_argument("global flags not at the start of the expression");
    for (char letter : head.flags_on) {
      if (letter == 'a' || letter == 'u') global_type_ += letter;
    }
    if (global_type_.find('a') != std::string::npos && global_type_.find('u') != std::string::npos) {
      return invalid_argument("ASCII and UNICODE flags are incompatible");
    }
    top().flags = changed(top().flags, head);
    return {};
  }

  Status close_group() {
    if (at_root()) return invalid_argument("unbalanced parenthesis");
    const Frame frame = top();
    RegexWidth width = frame.width();
    frames_.pop_back();
    switch (frame.kind) {
      case Kind::kCapture:
        widths_[frame.group - 1] = width;
        break;
      case Kind::kLookbehind:
      case Kind::kNotLookbehind:
        --lookbehinds_;
        if (!width.is_fixed()) return invalid_argument("look-behind requires fixed-width pattern");
        width = {};
        break;
      case Kind::kLookahead:
      case Kind::kNotLookahead:
        width = {};
        break;
      case Kind::kCondition:
        if (frame.branches == 1) width.least = 0;
        break;
      default:
        break;
    }
    return put_from(frame.text_start, ")", width);
  }

  RegexTokens tokens_;
  TranslatedRegex out_;
  Runs runs_;
  std::vector<Frame> frames_;
  std::size_t item_start_ = 0;
  std::uint32_t groups_ = 0;
  std::vector<std::optional<RegexWidth>> widths_;  // of each capturing group, once closed
  std::map<std::string, std::uint32_t> names_;
  std::map<std::uint32_t, std::size_t> conditions_;  // group tested by number -> where
  int lookbehinds_ = 0;                              // open ones
  std::string global_type_;
};

}  // namespace

Result<TranslatedRegex> translate_python_regex(std::string_view pattern) {
  SHARDWISE_ASSIGN_OR_RETURN(RegexTokens tokens, RegexTokens::create(pattern));
  return Translator(std::move(tokens)).run();
}

}  // namespace shardwise
