// Specs of variables: untrusted JSON -> VariableTree. A state machine over the events of the parser; every value is
// checked where it is met, so that nothing is kept that the schema lacks.
#include <cmath>
#include <unordered_set>

#include "base/format.h"
#include "checkpoint/json/json.h"
#include "shardwise/variables.h"

namespace shardwise {
namespace {

constexpr std::size_t kMaxTextBytes = 16 << 20;
constexpr std::size_t kMaxVariables = 1 << 20;
constexpr std::size_t kMaxNameBytes = 4096;
constexpr std::size_t kMaxListLength = 1 << 16;
constexpr std::string_view kVariableKeys = "name, shape, dtype, initializer, rounding";
constexpr std::string_view kInitializerKeys = "class_name, config";

// One variable as its object says it.
struct Entry {
  std::optional<std::string> name;
  std::optional<Shape> shape;
  std::optional<DType> dtype;
  std::optional<InitializerConfig> initializer;
  std::optional<Rounding> rounding = Rounding::kEager;  // nullopt = "keras"
};

bool is_number(const json::Scalar& value) {
  return value.type == json::Type::kUnsigned || value.type == json::Type::kNumber;
}

// JSON has one kind of number, Keras's configs two: what is written without sign and point is an integer, and so is a
// negative number without fraction.
std::optional<std::int64_t> as_integer(const json::Scalar& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.type == json::Type::kUnsigned && value.integer <= std::uint64_t{INT64_MAX}) {
    return static_cast<std::int64_t>(value.integer);
  }
  if (value.type == json::Type::kNumber && value.number < 0 && value.number > -kExact &&
      std::trunc(value.number) == value.number) {
    return static_cast<std::int64_t>(value.number);
  }
  return std::nullopt;
}

class SpecReader final : public json::Events {
 public:
  explicit SpecReader(PythonRandom& seeds) : seeds_(seeds) {}

  Status on_key(std::string key) override;
  Status on_scalar(json::Scalar value) override;
  Status on_begin(json::Type container) override;
  Status on_end(json::Type container) override;
  Result<VariableTree> finish() && {
    if (!has_variables_) return invalid_argument("the spec has no \"variables\"");
    if (tree_.variables.empty()) return invalid_argument("\"variables\" is empty");
    return std::move(tree_);
  }

 private:
  enum class Place : std::uint8_t { kBefore, kTop, kVariables, kVariable, kShape, kInitializer, kConfig, kList };

  std::string where() const {
    const std::string name = entry_.name ? format(" '{}'", printable(*entry_.name)) : std::string();
    return format("variable {}{}", tree_.variables.size(), name);
  }
  Status unexpected(json::Type type, std::string_view what) const {
    return invalid_argument("{}: {} is {}, not {}", where(), printable(key_), json::describe(type), what);
  }
  Status variable_key();
  Status variable_scalar(json::Scalar value);
  Status initializer_scalar(json::Scalar value);
  Status config_scalar(json::Scalar value);
  Status dimension(const json::Scalar& value);
  Status list_item(const json::Scalar& value);
  Status take_list();
  Status take_variable();

  PythonRandom& seeds_;
  Place place_ = Place::kBefore;
  std::string key_;
  bool has_variables_ = false;
  Entry entry_;
  std::unordered_set<std::string> keys_;  // of the object that is being read
  std::unordered_set<std::string> names_;
  std::string list_key_;
  std::vector<json::Scalar> list_;
  VariableTree tree_;
};

Status SpecReader::on_key(std::string key) {
  key_ = std::move(key);
  switch (place_) {
    case Place::kTop:
      if (key_ != "variables")
        return invalid_argument("unknown key '{}'; the spec has one: variables", printable(key_));
      if (has_variables_) return invalid_argument("the key 'variables' occurs twice");
      has_variables_ = true;
      return Status();
    case Place::kVariable:
      return variable_key();
    case Place::kInitializer:
      // What Keras's serialisation adds says nothing about values.
      if (key_ == "class_name" || key_ == "config" || key_ == "module" || key_ == "registered_name") return Status();
      return invalid_argument("{}: unknown key '{}' of the initializer; known keys: {}", where(), printable(key_),
                              kInitializerKeys);
    default:  // kConfig
      if (entry_.initializer->config.contains(key_)) {
        return invalid_argument("{}: the initializer's '{}' occurs twice", where(), printable(key_));
      }
      return Status();
  }
}

Status SpecReader::variable_key() {
  if (kVariableKeys.find(key_) == std::string_view::npos || key_.empty() || key_.find(',') != std::string::npos) {
    return invalid_argument("{}: unknown key '{}'; known keys: {}", where(), printable(key_), kVariableKeys);
  }
  if (!keys_.insert(key_).second) return invalid_argument("{}: the key '{}' occurs twice", where(), key_);
  return Status();
}

Status SpecReader::on_begin(json::Type container) {
  const bool object = container == json::Type::kObject;
  switch (place_) {
    case Place::kBefore:
      if (!object) return invalid_argument("the spec is an array, not an object {{\"variables\": [...]}}");
      place_ = Place::kTop;
      return Status();
    case Place::kTop:
      if (object) return invalid_argument("\"variables\" is an object, not an array of objects");
      place_ = Place::kVariables;
      return Status();
    case Place::kVariables:
      if (!object) return invalid_argument("{} is an array, not an object", where());
      if (tree_.variables.size() == kMaxVariables) {
        return resource_exhausted("the spec has more than {} variables", kMaxVariables);
      }
      entry_ = Entry();
      keys_.clear();
      place_ = Place::kVariable;
      return Status();
    case Place::kVariable:
      if (key_ == "shape" && !object) {
        entry_.shape.emplace();
        place_ = Place::kShape;
      } else if (key_ == "initializer" && object) {
        entry_.initializer.emplace();
        place_ = Place::kInitializer;
      } else {
        return unexpected(container, key_ == "shape" ? "an array of sizes" : "a string");
      }
      return Status();
    case Place::kInitializer:
      if (key_ != "config" || !object) return unexpected(container, key_ == "config" ? "an object" : "a string");
      place_ = Place::kConfig;
      return Status();
    case Place::kConfig:
      if (object) return unexpected(container, "a number, a string or a list of numbers");
      list_key_ = key_;
      list_.clear();
      place_ = Place::kList;
      return Status();
    default:
      return unexpected(container, "a list of numbers");
  }
}

Status SpecReader::on_end(json::Type) {
  switch (place_) {
    case Place::kList:
      place_ = Place::kConfig;
      return take_list();
    case Place::kConfig:
      place_ = Place::kInitializer;
      return Status();
    case Place::kShape:
    case Place::kInitializer:
      place_ = Place::kVariable;
      return Status();
    case Place::kVariable:
      place_ = Place::kVariables;
      return take_variable();
    case Place::kVariables:
      place_ = Place::kTop;
      return Status();
    default:
      return Status();
  }
}

Status SpecReader::on_scalar(json::Scalar value) {
  switch (place_) {
    case Place::kBefore:
      return invalid_argument("the spec is {}, not an object {{\"variables\": [...]}}", json::describe(value.type));
    case Place::kTop:
      return invalid_argument("\"variables\" is {}, not an array of objects", json::describe(value.type));
    case Place::kVariables:
      return invalid_argument("{} is {}, not an object", where(), json::describe(value.type));
    case Place::kVariable:
      return variable_scalar(std::move(value));
    case Place::kShape:
      return dimension(value);
    case Place::kInitializer:
      return initializer_scalar(std::move(value));
    case Place::kConfig:
      return config_scalar(std::move(value));
    case Place::kList:
      return list_item(value);
  }
  return Status();
}

Status SpecReader::variable_scalar(json::Scalar value) {
  if (key_ == "shape") return unexpected(value.type, "an array of sizes");
  if (value.type != json::Type::kString) return unexpected(value.type, "a string");
  if (key_ == "name") {
    if (value.text.empty() || value.text.size() > kMaxNameBytes || value.text.find('\0') != std::string::npos) {
      return invalid_argument("{}: a name has 1 to {} bytes, none of them NUL", where(), kMaxNameBytes);
    }
    if (!names_.insert(value.text).second) {
      return invalid_argument("{}: the name '{}' occurs twice", where(), printable(value.text));
    }
    entry_.name = std::move(value.text);
  } else if (key_ == "dtype") {
    entry_.dtype = parse_dtype(value.text);
    if (!entry_.dtype) return invalid_argument("{}: unknown dtype '{}'", where(), printable(value.text));
    if (!is_byte_sized(*entry_.dtype)) return unimplemented("{}: values of {}", where(), value.text);
  } else if (key_ == "initializer") {
    entry_.initializer = InitializerConfig{std::move(value.text), {}};
  } else if (value.text == "keras") {
    entry_.rounding.reset();
  } else {
    const auto rounding = parse_rounding(value.text);
    if (!rounding.ok()) {
      return invalid_argument("{}: rounding '{}' is none of eager, jit, keras", where(), printable(value.text));
    }
    entry_.rounding = *rounding;
  }
  return Status();
}

Status SpecReader::dimension(const json::Scalar& value) {
  const auto size = as_integer(value);
  if (!size || *size < 0) return invalid_argument("{}: shape holds something that is no size", where());
  if (entry_.shape->size() == kMaxRank) {
    return invalid_argument("{}: shape has more than {} dimensions", where(), kMaxRank);
  }
  entry_.shape->push_back(*size);
  return Status();
}

Status SpecReader::initializer_scalar(json::Scalar value) {
  if (key_ == "module" || key_ == "registered_name") return Status();
  if (key_ == "config" && value.type == json::Type::kNull) return Status();
  if (key_ == "config") return unexpected(value.type, "an object");
  if (value.type != json::Type::kString) return unexpected(value.type, "a string");
  entry_.initializer->class_name = std::move(value.text);
  return Status();
}

Status SpecReader::config_scalar(json::Scalar value) {
  InitializerConfig::Value& target = entry_.initializer->config[key_];
  if (value.type == json::Type::kString) {
    target = std::move(value.text);
  } else if (value.type == json::Type::kBool) {
    target = value.integer != 0;
  } else if (const auto integer = as_integer(value)) {
    target = *integer;
  } else if (is_number(value)) {
    target = value.number;
  }
  return Status();
}

Status SpecReader::list_item(const json::Scalar& value) {
  if (!is_number(value)) {
    return invalid_argument("{}: the initializer's '{}' holds {}, not a number", where(), printable(list_key_),
                            json::describe(value.type));
  }
  if (list_.size() == kMaxListLength) {
    return invalid_argument("{}: the initializer's '{}' has more than {} items", where(), printable(list_key_),
                            kMaxListLength);
  }
  list_.push_back(value);
  return Status();
}

Status SpecReader::take_list() {
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  for (const json::Scalar& item : list_) {
    if (const auto integer = as_integer(item)) integers.push_back(*integer);
    numbers.push_back(item.number);
  }
  InitializerConfig::Value& target = entry_.initializer->config[list_key_];
  if (integers.size() == numbers.size()) {
    target = std::move(integers);
  } else {
    target = std::move(numbers);
  }
  return Status();
}

Status SpecReader::take_variable() {
  if (!entry_.name) return invalid_argument("{} has no name", where());
  if (!entry_.shape) return invalid_argument("{} has no shape", where());
  auto bytes = byte_count(*entry_.shape, entry_.dtype.value_or(DType::kFloat32));
  if (!bytes.ok()) return bytes.status().with_context(where());
  Initializer initializer = zeros();
  if (entry_.initializer) {
    auto made = make_initializer(*entry_.initializer);
    if (!made.ok()) return invalid_argument("{}: {}", where(), made.status().message());
    initializer = made->with_default_seed(seeds_);
  }
  tree_.variables.push_back(
      {std::move(*entry_.name), entry_.dtype, {std::move(*entry_.shape), std::move(initializer), entry_.rounding}, {}});
  return Status();
}

}  // namespace

Result<VariableTree> parse_variables(std::string_view text, PythonRandom& seeds) {
  if (text.size() > kMaxTextBytes) {
    return resource_exhausted("a spec of {} bytes is over the limit of {}", text.size(), kMaxTextBytes);
  }
  SpecReader reader(seeds);
  Status status = json::parse(text, reader);
  if (status.code() == Code::kDataLoss) return invalid_argument("not JSON: {}", status.message());
  SHARDWISE_RETURN_IF_ERROR(status);
  return std::move(reader).finish();
}

}  // namespace shardwise
