#include <array>

#include "mesh/builtin_layouts.h"

namespace shardwise {
namespace {

// Shapes: V vocabulary, D hidden, F feed-forward, Q/K query and key-value heads, H head size.
//
// The published map gives the query, key and value kernels ("model", "batch", None), as if they were (heads, D, H) like
// Gemma's. Llama's are (D, heads, H): D is split by the model axis and the heads by the batch axis. It is kept, so that
// a variable has the layout that keras-hub gives it; the Hugging Face rules say the same shards. The published map has
// no rule for the untied output embeddings (token_embedding/reverse_embeddings), which stay whole under that name;
// under the other names they are split as the input embeddings are.
constexpr std::array kRules = {
    // Keras variable paths: LlamaBackbone.get_layout_map of keras-hub, rule by rule.
    BuiltinRule{"token_embedding/embeddings", "model batch"},                                     // (V, D)
    BuiltinRule{"transformer_layer.*self_attention.*(query|key|value).kernel", "model batch -"},  // (D, Q or K, H)
    BuiltinRule{"transformer_layer.*attention_output.kernel", "model - batch"},                   // (Q, H, D)
    BuiltinRule{"transformer_layer.*feedforward_intermediate_dense.kernel", "batch model"},       // (D, F)
    BuiltinRule{"transformer_layer.*feedforward_gate_dense.kernel", "batch model"},               // (D, F)
    BuiltinRule{"transformer_layer.*feedforward_output_dense.kernel", "model batch"},             // (F, D)

    // Datasets of Keras checkpoints, of a backbone alone or inside a task.
    BuiltinRule{R"((?:backbone/)?layers/reversible_embedding/vars/0)", "model batch"},  // (V, D)
    BuiltinRule{R"((?:backbone/)?layers/reversible_embedding/vars/1)", "batch model"},  // (D, V), untied
    BuiltinRule{R"((?:backbone/)?layers/(?:llama|qwen)_transformer_decoder(?:_\d+)?)"
                R"(/_self_attention_layer/_?(?:query|key|value)_dense/vars/0)",
                "model batch -"},
    BuiltinRule{R"((?:backbone/)?layers/(?:llama|qwen)_transformer_decoder(?:_\d+)?)"
                R"(/_self_attention_layer/_?output_dense/vars/0)",
                "model - batch"},
    BuiltinRule{R"((?:backbone/)?layers/(?:llama|qwen)_transformer_decoder(?:_\d+)?)"
                R"(/_feedforward_(?:intermediate|gate)_dense/vars/0)",
                "batch model"},
    BuiltinRule{R"((?:backbone/)?layers/(?:llama|qwen)_transformer_decoder(?:_\d+)?)"
                R"(/_feedforward_output_dense/vars/0)",
                "model batch"},

    // Hugging Face: matrices stored transposed and with heads merged; each rule says what the same shard is there.
    BuiltinRule{R"((?:model\.)?embed_tokens\.weight)", "model batch"},                            // (V, D)
    BuiltinRule{R"((?:model\.)?layers\.\d+\.self_attn\.(?:q|k|v)_proj\.weight)", "batch model"},  // (N*H, D)
    BuiltinRule{R"((?:model\.)?layers\.\d+\.self_attn\.o_proj\.weight)", "batch model"},          // (D, Q*H)
    BuiltinRule{R"((?:model\.)?layers\.\d+\.mlp\.(?:gate|up)_proj\.weight)", "model batch"},      // (F, D)
    BuiltinRule{R"((?:model\.)?layers\.\d+\.mlp\.down_proj\.weight)", "batch model"},             // (D, F)
    BuiltinRule{R"(lm_head\.weight)", "model batch"},                                             // (V, D)

    // GGUF names, as a converted file carries them; shapes as in Hugging Face files.
    BuiltinRule{R"((?:token_embd|output)\.weight)", "model batch"},
    BuiltinRule{R"(blk\.\d+\.attn_(?:q|k|v)\.weight)", "batch model"},
    BuiltinRule{R"(blk\.\d+\.attn_output\.weight)", "batch model"},
    BuiltinRule{R"(blk\.\d+\.ffn_(?:gate|up)\.weight)", "model batch"},
    BuiltinRule{R"(blk\.\d+\.ffn_down\.weight)", "batch model"},
};

}  // namespace

std::span<const BuiltinRule> llama_rules() { return kRules; }

}  // namespace shardwise
