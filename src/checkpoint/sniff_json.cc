#include "checkpoint/sniff_json.h"

#include <optional>
#include <span>
#include <string>

#include "base/format.h"
#include "checkpoint/json/json.h"

namespace shardwise {
namespace {

// Stops the parse, with CANCELLED, at the first entry of weight_map. Thread-compatible.
class FirstEntry final : public json::Events {
 public:
  const std::optional<Format>& format() const { return format_; }

  Status on_key(std::string key) override {
    if (depth_ == 1) in_map_ = key == "weight_map";
    return {};
  }
  Status on_scalar(json::Scalar value) override {
    if (depth_ != 2 || !in_map_) return {};
    return found(value.text.ends_with(".h5") ? Format::kKerasIndex : Format::kSafetensorsIndex);
  }
  Status on_begin(json::Type type) override {
    if (depth_++ == 2 && in_map_ && type == json::Type::kArray) return found(Format::kKerasIndex);
    return {};
  }
  Status on_end(json::Type) override {
    --depth_;
    return {};
  }

 private:
  Status found(Format format) {
    format_ = format;
    return cancelled("");
  }

  int depth_ = 0;
  bool in_map_ = false;
  std::optional<Format> format_;
};

}  // namespace

Result<Format> sniff_json(const File& file, const OpenOptions& options) {
  if (file.size() > options.max_header_bytes) {
    return resource_exhausted("JSON of {} bytes is above OpenOptions::max_header_bytes, {}", file.size(),
                              options.max_header_bytes);
  }
  std::string text(file.size(), '\0');
  SHARDWISE_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  FirstEntry events;
  const Status parsed = json::parse(text, events);
  if (events.format()) return *events.format();
  SHARDWISE_RETURN_IF_ERROR(parsed);
  return data_loss("JSON without a weight_map that names tensors: not an index of a checkpoint");
}

}  // namespace shardwise
