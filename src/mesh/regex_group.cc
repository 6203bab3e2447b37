#include "mesh/regex_group.h"

#include <algorithm>

#include "base/format.h"
#include "mesh/python_text.h"

namespace shardwise {
namespace {

using Kind = RegexGroupHead::Kind;

std::string spelled(RegexToken token) {
  std::string out = token.escaped ? "\\" : "";
  append_utf8(out, token.c);
  return out;
}

Status unexpected_end() { return invalid_argument("unexpected end of pattern"); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier(const std::string& name) {
  return !name.empty() && !is_digit(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

Status bad_name(const std::string& name) {
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii) return invalid_argument("group name {} is not ASCII, which is not supported", python_repr(name));
  return invalid_argument("bad character in group name {}", python_repr(name));
}

// The text up to `terminator`, which is stepped over.
Result<std::string> read_until(RegexTokens& tokens, char32_t terminator) {
  std::string out;
  while (const auto token = tokens.get()) {
    if (token->is(terminator)) {
      if (out.empty()) return invalid_argument("missing group name");
      return out;
    }
    out += spelled(*token);
  }
  if (out.empty()) return invalid_argument("missing group name");
  return invalid_argument("missing {}, unterminated name", static_cast<char>(terminator));
}

Result<RegexGroupHead> read_named(RegexTokens& tokens) {
  RegexGroupHead head;
  char32_t terminator = '>';
  if (tokens.match('=')) {
    head.kind = Kind::kBackreference;
    terminator = ')';
  } else if (!tokens.match('<')) {
    const auto token = tokens.get();
    return token ? invalid_argument("unknown extension ?P{}", spelled(*token)) : unexpected_end();
  }
  SHARDWISE_ASSIGN_OR_RETURN(head.name, read_until(tokens, terminator));
  if (!is_identifier(head.name)) return bad_name(head.name);
  return head;
}

Result<RegexGroupHead> read_condition(RegexTokens& tokens) {
  RegexGroupHead head{Kind::kCondition};
  SHARDWISE_ASSIGN_OR_RETURN(head.name, read_until(tokens, ')'));
  const bool number = std::all_of(head.name.begin(), head.name.end(), is_digit);
  if (!number && !is_identifier(head.name)) return bad_name(head.name);
  return head;
}

Result<RegexGroupHead> read_lookbehind(RegexTokens& tokens) {
  if (tokens.match('=')) return RegexGroupHead{Kind::kLookbehind};
  if (tokens.match('!')) return RegexGroupHead{Kind::kNotLookbehind};
  const auto token = tokens.get();
  return token ? invalid_argument("unknown extension ?<{}", spelled(*token)) : unexpected_end();
}

Result<RegexGroupHead> read_comment(RegexTokens& tokens) {
  while (const auto token = tokens.get()) {
    if (token->is(')')) return RegexGroupHead{Kind::kComment};
  }
  return invalid_argument("missing ), unterminated comment");
}

constexpr std::string_view kFlags = "imsxau";

bool is_flag(RegexToken token) {
  return !token.escaped && token.c < 0x80 && kFlags.find(static_cast<char>(token.c)) != std::string_view::npos;
}

// The flags that come next; stops before the first token that is none.
Result<std::string> read_flag_letters(RegexTokens& tokens) {
  std::string out;
  while (true) {
    const auto token = tokens.peek();
    if (!token) return invalid_argument("missing -, : or )");
    if (token->is('L')) return invalid_argument("bad inline flags: cannot use 'L' flag with a str pattern");
    if (!is_flag(*token)) return out;
    tokens.get();
    out += static_cast<char>(token->c);
  }
}

bool has(const std::string& flags, char letter) { return flags.find(letter) != std::string::npos; }

Status check_flags(const RegexGroupHead& head) {
  if (has(head.flags_on, 'a') && has(head.flags_on, 'u')) {
    return invalid_argument("bad inline flags: flags 'a', 'u' and 'L' are incompatible");
  }
  if (has(head.flags_off, 'a') || has(head.flags_off, 'u')) {
    return invalid_argument("bad inline flags: cannot turn off flags 'a', 'u' and 'L'");
  }
  for (char letter : head.flags_off) {
    if (has(head.flags_on, letter)) return invalid_argument("bad inline flags: flag turned on and off");
  }
  return {};
}

// "(?flags)", "(?flags:", "(?flags-flags:", "(?-flags:". The first letter, or "-", is next.
Result<RegexGroupHead> read_flags(RegexTokens& tokens) {
  RegexGroupHead head{Kind::kPlain};
  SHARDWISE_ASSIGN_OR_RETURN(head.flags_on, read_flag_letters(tokens));
  if (!head.flags_on.empty() && tokens.match(')')) {
    head.kind = Kind::kGlobalFlags;
  } else if (tokens.match('-')) {
    SHARDWISE_ASSIGN_OR_RETURN(head.flags_off, read_flag_letters(tokens));
    if (head.flags_off.empty()) return invalid_argument("missing flag");
    if (!tokens.match(':')) return invalid_argument("unknown flag, or missing :");
  } else if (!tokens.match(':')) {
    return invalid_argument("unknown flag, or missing -, : or )");
  }
  SHARDWISE_RETURN_IF_ERROR(check_flags(head));
  return head;
}

}  // namespace

Result<RegexGroupHead> read_group_head(RegexTokens& tokens) {
  if (!tokens.match('?')) return RegexGroupHead{};
  const auto token = tokens.peek();
  if (!token) return unexpected_end();
  if (token->is('-') || token->is('L') || is_flag(*token)) return read_flags(tokens);
  tokens.get();
  if (token->escaped) return invalid_argument("unknown extension ?{}", spelled(*token));
  switch (token->c) {
    case 'P':
      return read_named(tokens);
    case ':':
      return RegexGroupHead{Kind::kPlain};
    case '#':
      return read_comment(tokens);
    case '=':
      return RegexGroupHead{Kind::kLookahead};
    case '!':
      return RegexGroupHead{Kind::kNotLookahead};
    case '<':
      return read_lookbehind(tokens);
    case '(':
      return read_condition(tokens);
    case '>':
      return RegexGroupHead{Kind::kAtomic};
    default:
      return invalid_argument("unknown extension ?{}", spelled(*token));
  }
}

RegexFlags changed(RegexFlags flags, const RegexGroupHead& head) {
  const auto set = [&flags](char letter, bool value) {
    switch (letter) {
      case 'i':
        flags.ignore_case = value;
        break;
      case 'm':
        flags.multiline = value;
        break;
      case 's':
        flags.dotall = value;
        break;
      case 'x':
        flags.verbose = value;
        break;
      case 'a':
        flags.ascii = value;
        break;
      case 'u':
        flags.ascii = !value;
        break;
      default:
        break;
    }
  };
  for (char letter : head.flags_on) set(letter, true);
  for (char letter : head.flags_off) set(letter, false);
  return flags;
}

}  // namespace shardwise
