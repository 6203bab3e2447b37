// Llama 3 as Keras Hub builds it, with untied embeddings.
//
// Seeds: the embeddings and their reverse share an initializer, which is made first; then each block's constructor
// makes one that no kernel takes. When blocks are built, the attention's is cloned twice, and the second clone serves
// its four kernels; each feed-forward kernel gets a clone of its own. A clone draws a new seed.
#include "base/format.h"
#include "nn/model_tree.h"

namespace shardwise {
namespace {

constexpr double kEmbeddingStddev = 0.01;
constexpr double kKernelStddev = 0.02;

class LlamaBlock {
 public:
  LlamaBlock(const DecoderSizes& sizes, std::int64_t layer, PythonRandom& seeds, TreeBuilder& out)
      : sizes_(sizes),
        path_(format("transformer_layer_{}/", layer)),
        keras_(format("layers/llama_transformer_decoder{}/", layer_suffix(layer))),
        hugging_face_(format("model.layers.{}.", layer)),
        seeds_(seeds),
        out_(out) {}

  void add() {
    const auto [name, v, layers, d, q, k, h, f] = sizes_;
    seeds_.default_seed();
    const Initializer attention = kernel();
    projection("query", "q_proj", q, attention);
    projection("key", "k_proj", k, attention);
    projection("value", "v_proj", k, attention);
    out_.add(path_ + "self_attention/attention_output/kernel", {q, h, d}, attention,
             keras_ + "_self_attention_layer/_output_dense/vars/0",
             stored_split(hugging_face_ + "self_attn.o_proj.weight", {d, q * h}, {d, q, h}, {1, 2, 0}));
    norm("self_attention_layernorm", "input_layernorm");
    feed_forward("feedforward_intermediate_dense", "up_proj", d, f);
    feed_forward("feedforward_gate_dense", "gate_proj", d, f);
    feed_forward("feedforward_output_dense", "down_proj", f, d);
    norm("feedforward_layernorm", "post_attention_layernorm");
  }

 private:
  Initializer kernel() { return random_normal({.stddev = kKernelStddev, .seed = seeds_.default_seed()}); }

  void norm(const std::string& name, const std::string& hugging_face) {
    out_.add(path_ + name + "/scale", {sizes_.hidden}, ones(), keras_ + "_" + name + "/vars/0",
             stored_plain(hugging_face_ + hugging_face + ".weight", {sizes_.hidden}));
  }
  // (N * H, D) -> (D, N, H).
  void projection(const std::string& name, const std::string& hugging_face, std::int64_t heads,
                  const Initializer& initializer) {
    const std::int64_t d = sizes_.hidden;
    const std::int64_t h = sizes_.head;
    out_.add(path_ + "self_attention/" + name + "/kernel", {d, heads, h}, initializer,
             keras_ + "_self_attention_layer/_" + name + "_dense/vars/0",
             stored_split(hugging_face_ + "self_attn." + hugging_face + ".weight", {heads * h, d}, {heads, h, d},
                          {2, 0, 1}));
  }
  void feed_forward(const std::string& name, const std::string& hugging_face, std::int64_t in, std::int64_t out) {
    out_.add(path_ + name + "/kernel", {in, out}, kernel(), keras_ + "_" + name + "/vars/0",
             stored_transposed(hugging_face_ + "mlp." + hugging_face + ".weight", in, out));
  }

  const DecoderSizes& sizes_;
  const std::string path_;
  const std::string keras_;
  const std::string hugging_face_;
  PythonRandom& seeds_;
  TreeBuilder& out_;
};

}  // namespace

VariableTree llama_tree(const DecoderSizes& sizes, PythonRandom& seeds) {
  TreeBuilder out(sizes.name);
  const std::int64_t v = sizes.vocabulary;
  const std::int64_t d = sizes.hidden;
  const Initializer embeddings = random_normal({.stddev = kEmbeddingStddev, .seed = seeds.default_seed()});
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) seeds.default_seed();
  out.add("token_embedding/embeddings", {v, d}, embeddings, "layers/reversible_embedding/vars/0",
          stored_plain("model.embed_tokens.weight", {v, d}));
  out.add("token_embedding/reverse_embeddings", {d, v}, embeddings, "layers/reversible_embedding/vars/1",
          stored_transposed("lm_head.weight", d, v));
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) LlamaBlock(sizes, layer, seeds, out).add();
  out.add("sequence_output_layernorm/scale", {d}, ones(), "layers/llama_layer_norm/vars/0",
          stored_plain("model.norm.weight", {d}));
  return out.take();
}

}  // namespace shardwise
