// What the built-in models are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/variables.h"

namespace shardwise {

// Sizes of a decoder: V vocabulary, L layers, D hidden, Q and K query and key-value heads, H head size, F feed-forward.
struct DecoderSizes {
  std::string_view name;
  std::int64_t vocabulary = 0;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t query_heads = 0;
  std::int64_t key_value_heads = 0;
  std::int64_t head = 0;
  std::int64_t feed_forward = 0;
};

// Collects the variables of a tree. Thread-compatible.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string_view name) { tree_.name = name; }

  // Names in a Keras checkpoint are tried alone and as part of a task ("backbone/...").
  void add(std::string path, Shape shape, Initializer initializer, const std::string& keras_name,
           StoredAs hugging_face);
  VariableTree take() { return std::move(tree_); }

 private:
  VariableTree tree_;
};

// Views of what Hugging Face stores. Preconditions: the element counts are right.
// A tensor as it is.
StoredAs stored_plain(std::string tensor, Shape shape);
// A matrix (b, a) that is the variable (a, b).
StoredAs stored_transposed(std::string tensor, std::int64_t a, std::int64_t b);
// A matrix seen as `split`, its axes then permuted.
StoredAs stored_split(std::string tensor, Shape matrix, const Shape& split, const std::vector<int>& axes);

// "_3"; nothing for 0: how Keras numbers the layers of a checkpoint.
std::string layer_suffix(std::int64_t layer);

// Keras Hub's GemmaBackbone; `post_norms` for Gemma 2. And LlamaBackbone with untied embeddings (Llama 3 8B).
VariableTree gemma_tree(const DecoderSizes& sizes, bool post_norms, PythonRandom& seeds);
VariableTree llama_tree(const DecoderSizes& sizes, PythonRandom& seeds);

}  // namespace shardwise
