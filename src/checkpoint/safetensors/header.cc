#include "checkpoint/safetensors/header.h"

#include <limits>
#include <utility>

#include "base/format.h"
#include "checkpoint/json/json.h"
#include "checkpoint/safetensors/dtypes.h"

namespace shardwise::safetensors {
namespace {

constexpr std::uint64_t kMaxExtent = std::numeric_limits<std::int64_t>::max();

// Collects a Header from JSON events. `expect_` says what the next value is. Thread-compatible.
class HeaderEvents final : public json::Events {
 public:
  explicit HeaderEvents(std::uint64_t max_tensors) : max_tensors_(max_tensors) {}
  Header take() { return std::move(header_); }

  Status on_key(std::string key) override {
    if (skipped_depth_ > 0) return {};
    switch (inside_) {
      case Inside::kRoot:
        return root_key(std::move(key));
      case Inside::kMetadata:
        expect_ = Expect::kMetadataValue;
        metadata_key_ = std::move(key);
        return {};
      case Inside::kTensor:
        return tensor_key(key);
    }
    return {};
  }

  Status on_scalar(json::Scalar value) override {
    if (skipped_depth_ > 0 || expect_ == Expect::kSkipped) return {};
    switch (expect_) {
      case Expect::kMetadata:
        return value.type == json::Type::kNull ? Status() : wrong_type(value.type);
      case Expect::kMetadataValue:
        return metadata_value(value);
      case Expect::kDtype:
        return dtype(value);
      case Expect::kExtent:
        return extent(value);
      case Expect::kOffset:
        return offset(value);
      default:
        return wrong_type(value.type);
    }
  }

  Status on_begin(json::Type type) override {
    if (skipped_depth_ > 0 || expect_ == Expect::kSkipped) {
      ++skipped_depth_;
      return {};
    }
    const bool object = type == json::Type::kObject;
    if (expect_ == Expect::kRoot && object) {
      inside_ = Inside::kRoot;
    } else if (expect_ == Expect::kMetadata && object) {
      inside_ = Inside::kMetadata;
    } else if (expect_ == Expect::kTensor && object) {
      inside_ = Inside::kTensor;
    } else if (expect_ == Expect::kShape && !object) {
      expect_ = Expect::kExtent;
    } else if (expect_ == Expect::kOffsets && !object) {
      expect_ = Expect::kOffset;
    } else {
      return wrong_type(type);
    }
    return {};
  }

  Status on_end(json::Type type) override {
    if (skipped_depth_ > 0) {
      --skipped_depth_;
      return {};
    }
    if (type == json::Type::kArray) return end_array();
    const Inside ended = std::exchange(inside_, Inside::kRoot);
    return ended == Inside::kTensor ? end_tensor() : Status();
  }

 private:
  enum class Inside : std::uint8_t { kRoot, kMetadata, kTensor };
  enum class Expect : std::uint8_t {
    kRoot,
    kMetadata,
    kMetadataValue,
    kTensor,
    kDtype,
    kShape,
    kExtent,
    kOffsets,
    kOffset,
    kSkipped
  };

  Status root_key(std::string key) {
    if (key == "__metadata__") {
      if (std::exchange(has_metadata_, true)) return data_loss("__metadata__ is there twice");
      expect_ = Expect::kMetadata;
      return {};
    }
    if (header_.tensors.size() >= max_tensors_) {
      return resource_exhausted("the header declares more than {} tensors (OpenOptions::max_tensors)", max_tensors_);
    }
    expect_ = Expect::kTensor;
    header_.tensors.push_back({.name = std::move(key)});
    has_dtype_ = has_shape_ = has_offsets_ = false;
    offsets_seen_ = 0;
    return {};
  }

  Status tensor_key(const std::string& key) {
    bool ignored = false;
    bool* seen = &ignored;
    expect_ = Expect::kSkipped;
    if (key == "dtype") {
      seen = &has_dtype_;
      expect_ = Expect::kDtype;
    } else if (key == "shape") {
      seen = &has_shape_;
      expect_ = Expect::kShape;
    } else if (key == "data_offsets") {
      seen = &has_offsets_;
      expect_ = Expect::kOffsets;
    }
    if (std::exchange(*seen, true)) return in_tensor(data_loss("'{}' is there twice", key));
    return {};
  }

  Status metadata_value(const json::Scalar& value) {
    if (value.type != json::Type::kString) return wrong_type(value.type);
    const auto [at, added] = header_.metadata.try_emplace(std::move(metadata_key_), value.text);
    if (!added) return data_loss("__metadata__ has the key '{}' twice", printable(at->first));
    return {};
  }

  Status dtype(const json::Scalar& value) {
    if (value.type != json::Type::kString) return wrong_type(value.type);
    const auto known = parse_dtype(value.text);
    if (!known) return in_tensor(data_loss("unknown dtype '{}'; known are {}", printable(value.text), known_dtypes()));
    tensor().dtype = *known;
    return {};
  }

  Status extent(const json::Scalar& value) {
    if (value.type != json::Type::kUnsigned) return wrong_type(value.type);
    Shape& shape = tensor().shape;
    if (value.integer > kMaxExtent) return in_tensor(data_loss("the extent {} in shape is over 2^63-1", value.integer));
    if (shape.size() == kMaxRank) return in_tensor(data_loss("the rank is above the limit of {}", kMaxRank));
    shape.push_back(static_cast<std::int64_t>(value.integer));
    return {};
  }

  Status offset(const json::Scalar& value) {
    if (value.type != json::Type::kUnsigned) return wrong_type(value.type);
    if (offsets_seen_ == 2) return in_tensor(data_loss("data_offsets has more than 2 numbers"));
    (offsets_seen_++ == 0 ? tensor().begin : tensor().end) = value.integer;
    return {};
  }

  Status end_array() {
    const bool offsets = std::exchange(expect_, Expect::kSkipped) == Expect::kOffset;
    if (offsets && offsets_seen_ != 2) return in_tensor(data_loss("data_offsets has {} numbers, not 2", offsets_seen_));
    return {};
  }

  Status end_tensor() const {
    const char* missing = !has_dtype_ ? "dtype" : !has_shape_ ? "shape" : !has_offsets_ ? "data_offsets" : nullptr;
    return missing == nullptr ? Status() : in_tensor(data_loss("'{}' is missing", missing));
  }

  Status wrong_type(json::Type type) const {
    const std::string_view got = describe(type);
    switch (expect_) {
      case Expect::kRoot:
        return data_loss("the header is {}, not a JSON object", got);
      case Expect::kMetadata:
        return data_loss("__metadata__ is {}, not an object of strings", got);
      case Expect::kMetadataValue:
        return data_loss("__metadata__ '{}' is {}, not a string", printable(metadata_key_), got);
      case Expect::kTensor:
        return in_tensor(data_loss("its entry is {}, not an object", got));
      case Expect::kDtype:
        return in_tensor(data_loss("dtype is {}, not a string", got));
      case Expect::kShape:
        return in_tensor(data_loss("shape is {}, not an array", got));
      case Expect::kExtent:
        return in_tensor(data_loss("shape holds {}; extents are plain integers >= 0", got));
      case Expect::kOffsets:
        return in_tensor(data_loss("data_offsets is {}, not an array", got));
      case Expect::kOffset:
        return in_tensor(data_loss("data_offsets holds {}; offsets are plain integers >= 0", got));
      case Expect::kSkipped:
        break;
    }
    return internal_error("{} where nothing was expected", got);
  }

  HeaderTensor& tensor() { return header_.tensors.back(); }
  Status in_tensor(const Status& status) const {
    return status.with_context(format("tensor '{}'", printable(header_.tensors.back().name)));
  }

  std::uint64_t max_tensors_;
  Header header_;
  Inside inside_ = Inside::kRoot;
  Expect expect_ = Expect::kRoot;
  std::uint64_t skipped_depth_ = 0;
  std::string metadata_key_;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  int offsets_seen_ = 0;
};

}  // namespace

Result<Header> parse_header(std::string_view json, std::uint64_t max_tensors) {
  HeaderEvents events(max_tensors);
  SHARDWISE_RETURN_IF_ERROR(json::parse(json, events));
  return events.take();
}

}  // namespace shardwise::safetensors
