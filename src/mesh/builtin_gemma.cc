#include <array>

#include "mesh/builtin_layouts.h"

namespace shardwise {
namespace {

// Shapes: V vocabulary, D hidden, F feed-forward, Q/K query and key-value heads, H head size.
constexpr std::array kRules = {
    // Keras variable paths: GemmaBackbone.get_layout_map of keras-hub, rule by rule.
    BuiltinRule{"token_embedding/embeddings", "model batch"},                            // (V, D)
    BuiltinRule{"decoder_block.*attention.*(query|key|value).kernel", "model batch -"},  // (Q or K, D, H)
    BuiltinRule{"decoder_block.*attention_output.kernel", "model - batch"},              // (Q, H, D)
    BuiltinRule{"decoder_block.*ffw_gating.kernel", "batch model"},                      // (D, F)
    BuiltinRule{"decoder_block.*ffw_gating_2.kernel", "batch model"},                    // (D, F)
    BuiltinRule{"decoder_block.*ffw_linear.kernel", "model batch"},                      // (F, D)

    // Datasets of Keras checkpoints, of a backbone alone or inside a task: the same tensors under attribute names.
    BuiltinRule{R"((?:backbone/)?layers/reversible_embedding/vars/0)", "model batch"},
    BuiltinRule{R"((?:backbone/)?layers/gemma_decoder_block(?:_\d+)?/attention/(?:query|key|value)_dense/vars/0)",
                "model batch -"},
    BuiltinRule{R"((?:backbone/)?layers/gemma_decoder_block(?:_\d+)?/attention/output_dense/vars/0)", "model - batch"},
    BuiltinRule{R"((?:backbone/)?layers/gemma_decoder_block(?:_\d+)?/gating_ffw(?:_2)?/vars/0)", "batch model"},
    BuiltinRule{R"((?:backbone/)?layers/gemma_decoder_block(?:_\d+)?/ffw_linear/vars/0)", "model batch"},

    // Hugging Face: matrices stored transposed and with heads merged, so that each rule says what the same shard is
    // there.
    BuiltinRule{R"((?:language_model\.)?(?:model\.)?(?:language_model\.)?embed_tokens\.weight)", "model batch"},
    BuiltinRule{
        R"((?:language_model\.)?(?:model\.)?(?:language_model\.)?layers\.\d+\.self_attn\.(?:q|k|v)_proj\.weight)",
        "model batch"},  // (N*H, D)
    BuiltinRule{R"((?:language_model\.)?(?:model\.)?(?:language_model\.)?layers\.\d+\.self_attn\.o_proj\.weight)",
                "batch model"},  // (D, Q*H)
    BuiltinRule{R"((?:language_model\.)?(?:model\.)?(?:language_model\.)?layers\.\d+\.mlp\.(?:gate|up)_proj\.weight)",
                "model batch"},  // (F, D)
    BuiltinRule{R"((?:language_model\.)?(?:model\.)?(?:language_model\.)?layers\.\d+\.mlp\.down_proj\.weight)",
                "batch model"},                                             // (D, F)
    BuiltinRule{R"((?:language_model\.)?lm_head\.weight)", "model batch"},  // (V, D)

    // GGUF names, as a converted file carries them; shapes as in Hugging Face files.
    BuiltinRule{R"((?:token_embd|output)\.weight)", "model batch"},
    BuiltinRule{R"(blk\.\d+\.attn_(?:q|k|v)\.weight)", "model batch"},
    BuiltinRule{R"(blk\.\d+\.attn_output\.weight)", "batch model"},
    BuiltinRule{R"(blk\.\d+\.ffn_(?:gate|up)\.weight)", "model batch"},
    BuiltinRule{R"(blk\.\d+\.ffn_down\.weight)", "batch model"},
};

}  // namespace

std::span<const BuiltinRule> gemma_rules() { return kRules; }

}  // namespace shardwise
