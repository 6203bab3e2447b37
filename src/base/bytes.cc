#include "shardwise/bytes.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/format.h"

namespace shardwise {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr double kKi = 1024.0;
constexpr std::array<Unit, 18> kUnits = {{{"", 1},
                                          {"b", 1},
                                          {"k", kKi},
                                          {"kib", kKi},
                                          {"kb", 1e3},
                                          {"m", kKi* kKi},
                                          {"mib", kKi* kKi},
                                          {"mb", 1e6},
                                          {"g", kKi* kKi* kKi},
                                          {"gib", kKi* kKi* kKi},
                                          {"gb", 1e9},
                                          {"t", kKi* kKi* kKi* kKi},
                                          {"tib", kKi* kKi* kKi* kKi},
                                          {"tb", 1e12},
                                          {"p", kKi* kKi* kKi* kKi* kKi},
                                          {"pib", kKi* kKi* kKi* kKi* kKi},
                                          {"pb", 1e15},
                                          {"bytes", 1}}};

Status bad_size(std::string_view text) {
  return invalid_argument("'{}' is not a size; write for example 4096, 96MiB, 1.5GiB or 2GB", printable(text));
}

}  // namespace

std::string to_string(ByteRange range) { return format("[{}, {})", range.begin, range.end); }

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 7> kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0 || value >= 99.95) return format("{:.0f} {}", value, kNames[unit]);
  const int decimals = value < 9.995 ? 2 : 1;
  std::string number = format("{:.{}f}", value, decimals);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return format("{} {}", number, kNames[unit]);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0 || std::signbit(number)) return bad_size(text);
  std::string unit;
  for (const char* p = end; p != text.data() + text.size(); ++p) {
    if (*p == ' ' && unit.empty()) continue;
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*p)));
  }
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    const double bytes = number * known.factor;
    if (bytes >= 18446744073709551615.0) return bad_size(text);
    return static_cast<std::uint64_t>(bytes);
  }
  return bad_size(text);
}

}  // namespace shardwise
