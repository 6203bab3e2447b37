// JSON from untrusted files as a stream of events: no tree, no recursion, bounded nesting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise::json {

// Levels of arrays and objects that may be open at once; the limit of the reference safetensors parser.
inline constexpr int kMaxDepth = 127;

enum class Type : std::uint8_t { kNull, kBool, kUnsigned, kNumber, kString, kArray, kObject };
// "a string", "an array", ... for messages.
std::string_view describe(Type type);

// A value that is neither array nor object. kUnsigned is an integer in [0, 2^64) written without sign, point or
// exponent; every other number is kNumber.
struct Scalar {
  Type type = Type::kNull;
  std::uint64_t integer = 0;  // kUnsigned; kBool: 0 or 1
  double number = 0;          // kUnsigned and kNumber
  std::string text;           // kString, decoded
};

// Receives the events of one document in order. The first Status that is not OK ends the parse and is its result.
class Events {
 public:
  virtual ~Events() = default;
  virtual Status on_key(std::string key) = 0;
  virtual Status on_scalar(Scalar value) = 0;
  virtual Status on_begin(Type container) = 0;
  virtual Status on_end(Type container) = 0;
};

// Parses exactly one document with blanks around it: RFC 8259, no byte-order mark, no comments, no NUL. The caller caps
// the length of `text`. Errors: DATA_LOSS with the byte position; those of `events`.
Status parse(std::string_view text, Events& events);

}  // namespace shardwise::json
