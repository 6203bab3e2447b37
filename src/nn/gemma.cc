// Gemma 1 and 2 as Keras Hub builds them.
//
// Seeds are drawn when layers are constructed: the embeddings, then per block one for the attention, whose four kernels
// share an initializer, and one for each feed-forward kernel. EinsumDense tells its initializer which axes of the
// kernel are inputs and outputs.
#include "base/format.h"
#include "nn/model_tree.h"

namespace shardwise {
namespace {

class GemmaBlock {
 public:
  GemmaBlock(const DecoderSizes& sizes, std::int64_t layer, PythonRandom& seeds, TreeBuilder& out)
      : sizes_(sizes),
        path_(format("decoder_block_{}/", layer)),
        keras_(format("layers/gemma_decoder_block{}/", layer_suffix(layer))),
        hugging_face_(format("model.layers.{}.", layer)),
        seeds_(seeds),
        out_(out) {}

  void add(bool post_norms) {
    const auto [name, v, layers, d, q, k, h, f] = sizes_;
    const Seed attention = seeds_.default_seed();
    norm("pre_attention_norm", "input_layernorm");
    if (post_norms) norm("post_attention_norm", "post_attention_layernorm");
    projection("query", "query_dense", "q_proj", q, attention);
    projection("key", "key_dense", "k_proj", k, attention);
    projection("value", "value_dense", "v_proj", k, attention);
    out_.add(path_ + "attention/attention_output/kernel", {q, h, d},
             glorot_uniform({.seed = attention, .input_axes = std::vector{0, 1}, .output_axes = std::vector{2}}),
             keras_ + "attention/output_dense/vars/0",
             stored_split(hugging_face_ + "self_attn.o_proj.weight", {d, q * h}, {d, q, h}, {1, 2, 0}));
    norm("pre_ffw_norm", post_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm");
    if (post_norms) norm("post_ffw_norm", "post_feedforward_layernorm");
    feed_forward("ffw_gating", "gating_ffw", "gate_proj", d, f);
    feed_forward("ffw_gating_2", "gating_ffw_2", "up_proj", d, f);
    feed_forward("ffw_linear", "ffw_linear", "down_proj", f, d);
  }

 private:
  void norm(const std::string& name, const std::string& hugging_face) {
    out_.add(path_ + name + "/scale", {sizes_.hidden}, zeros(), keras_ + name + "/vars/0",
             stored_plain(hugging_face_ + hugging_face + ".weight", {sizes_.hidden}));
  }
  void projection(const std::string& name, const std::string& keras, const std::string& hugging_face,
                  std::int64_t heads, const Seed& seed) {
    const std::int64_t d = sizes_.hidden;
    const std::int64_t h = sizes_.head;
    out_.add(path_ + "attention/" + name + "/kernel", {heads, d, h},
             glorot_uniform({.seed = seed, .input_axes = std::vector{1}, .output_axes = std::vector{0, 2}}),
             keras_ + "attention/" + keras + "/vars/0",
             stored_split(hugging_face_ + "self_attn." + hugging_face + ".weight", {heads * h, d}, {heads, h, d},
                          {0, 2, 1}));
  }
  void feed_forward(const std::string& name, const std::string& keras, const std::string& hugging_face, std::int64_t in,
                    std::int64_t out) {
    out_.add(
        path_ + name + "/kernel", {in, out},
        glorot_uniform({.seed = seeds_.default_seed(), .input_axes = std::vector{0}, .output_axes = std::vector{1}}),
        keras_ + keras + "/vars/0", stored_transposed(hugging_face_ + "mlp." + hugging_face + ".weight", in, out));
  }

  const DecoderSizes& sizes_;
  const std::string path_;
  const std::string keras_;
  const std::string hugging_face_;
  PythonRandom& seeds_;
  TreeBuilder& out_;
};

}  // namespace

VariableTree gemma_tree(const DecoderSizes& sizes, bool post_norms, PythonRandom& seeds) {
  TreeBuilder out(sizes.name);
  const Shape embeddings = {sizes.vocabulary, sizes.hidden};
  out.add("token_embedding/embeddings", embeddings,
          variance_scaling({.distribution = VarianceDistribution::kUntruncatedNormal, .seed = seeds.default_seed()}),
          "layers/reversible_embedding/vars/0", stored_plain("model.embed_tokens.weight", embeddings));
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) GemmaBlock(sizes, layer, seeds, out).add(post_norms);
  out.add("final_normalization/scale", {sizes.hidden}, zeros(), "layers/rms_normalization/vars/0",
          stored_plain("model.norm.weight", {sizes.hidden}));
  return out.take();
}

}  // namespace shardwise
