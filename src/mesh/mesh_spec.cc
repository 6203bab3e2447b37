#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "shardwise/mesh.h"
#include "shardwise/shape.h"

namespace shardwise {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Status bad_mesh(std::string_view text, std::string_view why) {
  return invalid_argument("'{}' is not a mesh: {}; write axis=size pairs, for example batch=2,model=4", printable(text),
                          why);
}

bool is_axis_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

// Size of an axis, at least 1; nullopt for anything else.
std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1) return std::nullopt;
  return size;
}

Status add_axis(std::string_view text, std::string_view item, MeshSpec& spec) {
  const auto equals = item.find('=');
  if (equals == std::string_view::npos) {
    return bad_mesh(text, format("'{}' has no '='", printable(item)));
  }
  const std::string_view name = trimmed(item.substr(0, equals));
  const std::string_view number = trimmed(item.substr(equals + 1));
  if (!is_axis_name(name)) {
    return bad_mesh(
        text, format("'{}' is not an axis name (letters, digits, '_', '-' and '.', at most 64)", printable(name)));
  }
  const auto size = parse_size(number);
  if (!size) {
    return bad_mesh(text,
                    format("the size of axis '{}' is '{}', not a whole number of 1 or more", name, printable(number)));
  }
  if (std::find(spec.axis_names.begin(), spec.axis_names.end(), name) != spec.axis_names.end()) {
    return bad_mesh(text, format("axis '{}' is named twice", name));
  }
  if (spec.shape.size() == kMaxRank) return bad_mesh(text, format("more than {} axes", kMaxRank));
  constexpr auto kMost = static_cast<std::int64_t>(kMaxDevices);
  if (*size > kMost / spec.size()) return bad_mesh(text, format("more than {} devices", kMaxDevices));
  spec.axis_names.emplace_back(name);
  spec.shape.push_back(*size);
  return {};
}

}  // namespace

std::int64_t MeshSpec::size() const {
  std::int64_t product = 1;
  for (std::int64_t size : shape) product *= size;
  return product;
}

Result<MeshSpec> parse_mesh(const std::string& text) {
  MeshSpec spec;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    SHARDWISE_RETURN_IF_ERROR(add_axis(text, rest.substr(0, comma), spec));
    if (comma == std::string_view::npos) return spec;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace shardwise
