#include "checkpoint/json/json.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/format.h"

namespace shardwise::json {
namespace {

// "[json.exception...] parse error at line 1, column 2: what" -> "what".
std::string_view reason(std::string_view message) {
  const auto column = message.find("column ");
  const auto colon = message.find(": ", column == std::string_view::npos ? 0 : column);
  return colon == std::string_view::npos ? message : message.substr(colon + 2);
}

// Turns the parser's callbacks into Events. Thread-compatible; borrows `events`.
class Adapter final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Adapter(Events& events) : events_(events) {}
  const Status& status() const { return status_; }

  bool null() override { return scalar({}); }
  bool boolean(bool value) override { return scalar({.type = Type::kBool, .integer = value ? 1u : 0u}); }
  bool number_integer(number_integer_t value) override {
    return scalar({.type = Type::kNumber, .number = static_cast<double>(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar({.type = Type::kUnsigned, .integer = value, .number = static_cast<double>(value)});
  }
  bool number_float(number_float_t value, const string_t&) override {
    return scalar({.type = Type::kNumber, .number = value});
  }
  bool string(string_t& value) override { return scalar({.type = Type::kString, .text = std::move(value)}); }
  bool binary(binary_t&) override { return keep(internal_error("JSON text has no binary values")); }
  bool key(string_t& value) override { return keep(events_.on_key(std::move(value))); }
  bool start_object(std::size_t) override { return begin(Type::kObject); }
  bool end_object() override { return end(Type::kObject); }
  bool start_array(std::size_t) override { return begin(Type::kArray); }
  bool end_array() override { return end(Type::kArray); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    return keep(data_loss("not valid JSON at byte {}: {}", position, printable(reason(error.what()))));
  }

 private:
  bool keep(Status status) {
    status_ = std::move(status);
    return status_.ok();
  }
  bool scalar(Scalar value) { return keep(events_.on_scalar(std::move(value))); }
  bool begin(Type type) {
    if (++depth_ > kMaxDepth) return keep(data_loss("JSON is nested deeper than {} levels", kMaxDepth));
    return keep(events_.on_begin(type));
  }
  bool end(Type type) {
    --depth_;
    return keep(events_.on_end(type));
  }

  Events& events_;
  int depth_ = 0;
  Status status_;
};

}  // namespace

std::string_view describe(Type type) {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kBool:
      return "a boolean";
    case Type::kUnsigned:
      return "an integer";
    case Type::kNumber:
      return "a number with sign, fraction or exponent, or over 2^64";
    case Type::kString:
      return "a string";
    case Type::kArray:
      return "an array";
    case Type::kObject:
      return "an object";
  }
  return "a value";
}

Status parse(std::string_view text, Events& events) {
  // The parser takes NUL for the end of its input and skips a byte-order mark; JSON allows neither.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return data_loss("not valid JSON at byte {}: a NUL character", nul);
  }
  if (text.starts_with("\xef\xbb\xbf")) return data_loss("not valid JSON at byte 0: a byte-order mark");
  Adapter adapter(events);
  try {
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &adapter) && adapter.status().ok()) {
      return data_loss("not valid JSON");
    }
  } catch (const std::bad_alloc&) {
    return resource_exhausted("no memory left to parse {} bytes of JSON", text.size());
  } catch (const std::exception& error) {
    return data_loss("not valid JSON: {}", printable(error.what()));
  }
  return adapter.status();
}

}  // namespace shardwise::json
