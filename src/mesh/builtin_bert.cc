#include <array>

#include "mesh/builtin_layouts.h"

namespace shardwise {
namespace {

// Shapes: V vocabulary, D hidden, F intermediate, N heads, H head size. Vocabularies (30522, 28996) divide by few
// device counts and 12 heads not by 8, so embeddings and attention kernels are split along D, which does. Biases and
// norms stay whole.
constexpr std::array kRules = {
    // Hugging Face.
    BuiltinRule{R"((?:bert\.)?embeddings\.(?:word|position|token_type)_embeddings\.weight)", "- model"},  // (V, D)
    BuiltinRule{R"((?:bert\.)?encoder\.layer\.\d+\.attention\.self\.(?:query|key|value)\.weight)",
                "model batch"},                                                                         // (N*H, D)
    BuiltinRule{R"((?:bert\.)?encoder\.layer\.\d+\.attention\.output\.dense\.weight)", "batch model"},  // (D, N*H)
    BuiltinRule{R"((?:bert\.)?encoder\.layer\.\d+\.intermediate\.dense\.weight)", "model batch"},       // (F, D)
    BuiltinRule{R"((?:bert\.)?encoder\.layer\.\d+\.output\.dense\.weight)", "batch model"},             // (D, F)
    BuiltinRule{R"((?:bert\.)?pooler\.dense\.weight)", "model batch"},                                  // (D, D)
    BuiltinRule{R"(cls\.predictions\.transform\.dense\.weight)", "model batch"},                        // (D, D)
    BuiltinRule{R"(cls\.predictions\.decoder\.weight)", "- model"},                                     // (V, D)

    // Keras variable paths: keras-hub's BertBackbone, and models made of Embedding, MultiHeadAttention and Dense layers
    // with Keras's own names or names that say "attention", "intermediate", "output".
    BuiltinRule{R"((?:.*/)?[^/]*embeddings?(?:_\d+)?/(?:position_)?embeddings)", "- model"},  // (V, D)
    BuiltinRule{R"((?:.*/)?[^/]*attention[^/]*/(?:query|key|value)/kernel)", "model - -"},    // (D, N, H)
    BuiltinRule{R"((?:.*/)?[^/]*attention[^/]*/attention_output/kernel)", "- - model"},       // (N, H, D)
    BuiltinRule{R"((?:.*/)?[^/]*intermediate[^/]*/kernel)", "batch model"},                   // (D, F)
    BuiltinRule{R"((?:.*/)?[^/]*(?<!attention)_output(?:_dense)?/kernel)", "model batch"},    // (F, D)
    BuiltinRule{R"((?:.*/)?pooled_dense/kernel)", "batch model"},                             // (D, D)
    // Dense layers in Keras's order of creation: intermediate, output, intermediate, ...
    BuiltinRule{R"((?:.*/)?dense(?:_\d*[02468])?/kernel)", "batch model"},
    BuiltinRule{R"((?:.*/)?dense_\d*[13579]/kernel)", "model batch"},

    // Datasets of Keras checkpoints of the same models, alone or inside a task.
    BuiltinRule{R"((?:backbone/)?layers/(?:reversible_|position_)?embedding(?:_\d+)?/vars/0)", "- model"},
    BuiltinRule{R"((?:backbone/)?layers/(?:multi_head_attention|transformer_encoder)(?:_\d+)?)"
                R"((?:/_self_attention_layer)?/_?(?:query|key|value)_dense/vars/0)",
                "model - -"},
    BuiltinRule{R"((?:backbone/)?layers/(?:multi_head_attention|transformer_encoder)(?:_\d+)?)"
                R"((?:/_self_attention_layer)?/_?output_dense/vars/0)",
                "- - model"},
    BuiltinRule{R"((?:backbone/)?layers/transformer_encoder(?:_\d+)?/_feedforward_intermediate_dense/vars/0)",
                "batch model"},
    BuiltinRule{R"((?:backbone/)?layers/transformer_encoder(?:_\d+)?/_feedforward_output_dense/vars/0)", "model batch"},
    BuiltinRule{R"((?:backbone/)?layers/dense(?:_\d*[02468])?/vars/0)", "batch model"},
    BuiltinRule{R"((?:backbone/)?layers/dense_\d*[13579]/vars/0)", "model batch"},
};

}  // namespace

std::span<const BuiltinRule> bert_rules() { return kRules; }

}  // namespace shardwise
