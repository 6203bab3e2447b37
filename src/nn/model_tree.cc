#include "nn/model_tree.h"

#include "base/format.h"

namespace shardwise {

void TreeBuilder::add(std::string path, Shape shape, Initializer initializer, const std::string& keras_name,
                      StoredAs hugging_face) {
  std::vector<StoredAs> stored_as = {stored_plain(keras_name, shape), stored_plain("backbone/" + keras_name, shape),
                                     std::move(hugging_face)};
  tree_.variables.push_back(
      {std::move(path), std::nullopt, {std::move(shape), std::move(initializer), std::nullopt}, std::move(stored_as)});
}

StoredAs stored_plain(std::string tensor, Shape shape) { return {std::move(tensor), View::of(std::move(shape))}; }

StoredAs stored_transposed(std::string tensor, std::int64_t a, std::int64_t b) {
  return {std::move(tensor), View::of({b, a}).transpose({1, 0}).value()};
}

StoredAs stored_split(std::string tensor, Shape matrix, const Shape& split, const std::vector<int>& axes) {
  return {std::move(tensor), View::of(std::move(matrix)).reshape(split).value().transpose(axes).value()};
}

std::string layer_suffix(std::int64_t layer) { return layer == 0 ? std::string() : format("_{}", layer); }

}  // namespace shardwise
