#include "mesh/layout_json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "mesh/python_text.h"

namespace shardwise {
namespace {

constexpr std::size_t kMaxTextBytes = 16 << 20;
constexpr std::size_t kMaxProblems = 100;
constexpr std::string_view kKnownKeys = "rules, dialect, uneven";
constexpr std::string_view kExpected =
    R"(an object of rules {"pattern": ["model", null], ...}, or {"rules": {...}, "dialect": ..., "uneven": ...})";

// Reads a text and tells how far the parser has read: SAX callbacks get no position.
class TrackingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  TrackingIterator& operator++() {
    *furthest_ = std::max(*furthest_, ++at_);
    return *this;
  }
  TrackingIterator operator++(int) {
    TrackingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const TrackingIterator& a, const TrackingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// A value of the outermost object whose meaning is known when the object ends: with an object "rules" the text is in
// its long form, without one every entry is a rule.
struct TopEntry {
  std::string key;
  std::size_t offset = 0;
  std::optional<TensorLayout> layout;  // an array
  std::optional<std::string> text;     // a string
};

class LayoutSax : public nlohmann::json_sax<nlohmann::json> {
 public:
  LayoutSax(std::string_view text, const char* const& furthest) : text_(text), furthest_(furthest) {}

  bool null() override { return value("null", Axis()); }
  bool boolean(bool) override { return value("a boolean", std::nullopt); }
  bool number_integer(number_integer_t) override { return value("a number", std::nullopt); }
  bool number_unsigned(number_unsigned_t) override { return value("a number", std::nullopt); }
  bool number_float(number_float_t, const string_t&) override { return value("a number", std::nullopt); }
  bool binary(binary_t&) override { return value("bytes", std::nullopt); }
  bool string(string_t& text) override {
    if (place_ == Place::kTop) {
      top_.back().text = text;
      return true;
    }
    return value("a string", Axis(text));
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kBefore) {
      place_ = Place::kTop;
      return true;
    }
    if (place_ != Place::kTop || top_.back().key != "rules") return value("an object", std::nullopt);
    has_rules_ = true;
    top_.pop_back();
    place_ = Place::kRules;
    return true;
  }
  bool end_object() override {
    place_ = place_ == Place::kRules ? Place::kTop : Place::kAfter;
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ != Place::kTop && place_ != Place::kRules) return value("an array", std::nullopt);
    array_ = TensorLayout();
    array_in_ = place_;
    place_ = Place::kArray;
    return true;
  }
  bool end_array() override {
    place_ = array_in_;
    if (place_ == Place::kTop) {
      top_.back().layout = std::move(array_);
    } else {
      file_.rules.back().layout = std::move(array_);
    }
    return true;
  }
  bool key(string_t& name) override {
    const std::size_t offset = string_start();
    if (place_ == Place::kRules) {
      file_.rules.push_back({name, {}, offset});
      return true;
    }
    if (name == "rules" && has_rules_) return fatal(offset, "key 'rules' is given twice");
    top_.push_back({name, offset, {}, {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override {
    const std::string_view what = error.what();
    const auto detail = what.find("syntax error");
    return fatal(consumed() == 0 ? 0 : consumed() - 1,
                 format("not JSON: {}", printable(what.substr(detail == std::string_view::npos ? 0 : detail))));
  }

  Result<LayoutFile> finish() {
    if (!stopped_) {
      for (TopEntry& entry : top_) settle(entry);
    }
    if (problems_.empty()) return std::move(file_);
    return invalid_argument("{}", fmt::join(problems_, "\n"));
  }

 private:
  enum class Place : std::uint8_t { kBefore, kTop, kRules, kArray, kAfter };

  std::size_t consumed() const { return static_cast<std::size_t>(furthest_ - text_.data()); }

  // Where the string that was just read begins: back from its closing quote to the first quote that is not escaped.
  std::size_t string_start() const {
    std::size_t i = consumed() - 1;
    while (i > 0) {
      --i;
      if (text_[i] != '"') continue;
      std::size_t slashes = 0;
      while (slashes < i && text_[i - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    return i;
  }

  bool fatal(std::size_t offset, std::string_view what) {
    problem(offset, what);
    stopped_ = true;
    return false;
  }

  void problem(std::size_t offset, std::string_view what) {
    if (problems_.size() < kMaxProblems) problems_.push_back(format("{}: {}", text_position(text_, offset), what));
  }

  // A scalar, or the start of something that may not stand here. `axis` is set when an array may hold it.
  bool value(std::string_view what, std::optional<Axis> axis) {
    const std::size_t offset = consumed() - 1;
    switch (place_) {
      case Place::kArray:
        if (!axis) return fatal(offset, format("{} in a layout; its entries are axis names and null", what));
        if (array_.axes.size() == kMaxRank) return fatal(offset, format("a layout of more than {} entries", kMaxRank));
        array_.axes.push_back(std::move(*axis));
        return true;
      case Place::kRules:
        return fatal(offset, format("the value of rule {} is {}; expected an array such as [\"model\", null]",
                                    python_repr(file_.rules.back().key), what));
      case Place::kTop:
        return fatal(offset,
                     format("the value of {} is {}; expected {}", python_repr(top_.back().key), what, kExpected));
      default:
        return fatal(offset, format("{}; expected {}", what, kExpected));
    }
  }

  // Decides what an entry of the outermost object means, now that all are known.
  void settle(TopEntry& entry) {
    if (!has_rules_ && entry.layout) {
      file_.rules.push_back({std::move(entry.key), std::move(*entry.layout), entry.offset});
    } else if (!has_rules_) {
      problem(entry.offset, format("the value of rule {} is a string; expected {}", python_repr(entry.key), kExpected));
    } else if (entry.key == "dialect") {
      set_dialect(entry);
    } else if (entry.key == "uneven") {
      set_uneven(entry);
    } else {
      problem(entry.offset, format("unknown key {}; known keys: {}", python_repr(entry.key), kKnownKeys));
    }
  }

  void set_dialect(const TopEntry& entry) {
    if (file_.dialect) return problem(entry.offset, "key 'dialect' is given twice");
    if (entry.text == "fullmatch" || entry.text == "search") {
      file_.dialect = entry.text == "search" ? MatchDialect::kSearch : MatchDialect::kFullMatch;
    } else {
      problem(entry.offset, "the value of 'dialect' is neither \"fullmatch\" nor \"search\"");
    }
  }

  void set_uneven(const TopEntry& entry) {
    if (file_.uneven) return problem(entry.offset, "key 'uneven' is given twice");
    if (entry.text == "refuse" || entry.text == "replicate") {
      file_.uneven = entry.text == "replicate" ? Uneven::kReplicate : Uneven::kRefuse;
    } else {
      problem(entry.offset, "the value of 'uneven' is neither \"refuse\" nor \"replicate\"");
    }
  }

  std::string_view text_;
  const char* const& furthest_;
  Place place_ = Place::kBefore;
  Place array_in_ = Place::kTop;
  TensorLayout array_;
  std::vector<TopEntry> top_;
  bool has_rules_ = false;
  bool stopped_ = false;
  LayoutFile file_;
  std::vector<std::string> problems_;
};

}  // namespace

std::string text_position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto start = before.rfind('\n');
  return format("line {}, column {}", line, before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1);
}

Result<LayoutFile> read_layout_json(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return invalid_argument("a layout of {} bytes is over the limit of {}", text.size(), kMaxTextBytes);
  }
  const char* furthest = text.data();
  LayoutSax sax(text, furthest);
  try {
    nlohmann::json::sax_parse(TrackingIterator(text.data(), &furthest),
                              TrackingIterator(text.data() + text.size(), &furthest), &sax);
  } catch (const std::exception& error) {
    return invalid_argument("not JSON: {}", printable(error.what()));
  }
  return sax.finish();
}

}  // namespace shardwise
