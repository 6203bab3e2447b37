#include "checkpoint/keras_zip/model_metadata.h"

#include <span>
#include <utility>

#include "checkpoint/json/json.h"

namespace shardwise::keras {
namespace {

// Thread-compatible. Owns what it collects.
class TopLevelTexts final : public json::Events {
 public:
  Status on_key(std::string key) override {
    if (depth_ == 1) key_ = std::move(key);
    return {};
  }
  Status on_scalar(json::Scalar value) override {
    if (depth_ == 0) return data_loss("the document is not an object");
    if (depth_ == 1 && value.type == json::Type::kString) texts_.insert_or_assign(key_, std::move(value.text));
    return {};
  }
  Status on_begin(json::Type container) override {
    if (depth_ == 0 && container != json::Type::kObject) return data_loss("the document is not an object");
    ++depth_;
    return {};
  }
  Status on_end(json::Type) override {
    --depth_;
    return {};
  }
  std::map<std::string, std::string>& texts() { return texts_; }

 private:
  int depth_ = 0;
  std::string key_;
  std::map<std::string, std::string> texts_;
};

}  // namespace

Status read_model_metadata(const File& file, std::map<std::string, std::string>& metadata) {
  std::string json(static_cast<std::size_t>(file.size()), '\0');
  SHARDWISE_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(json.data(), json.size()))));
  TopLevelTexts events;
  SHARDWISE_RETURN_IF_ERROR(json::parse(json, events));
  metadata.merge(events.texts());
  return {};
}

}  // namespace shardwise::keras
