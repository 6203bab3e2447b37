"""Built-in layouts against models that Keras makes and saves."""

import h5py
import keras
import pytest
from keras import layers

MESHES = [(1, 8), (2, 4), (8, 1), (1, 2), (1, 3), (1, 1)]
HIDDEN, HEADS, HEAD, INTERMEDIATE, VOCABULARY, POSITIONS = 384, 12, 32, 1536, 30522, 512
BLOCKS = 2
# The models are made small, for their names; each dimension then stands for one of MiniLM's.
SMALL = {HIDDEN: 36, HEADS: 12, HEAD: 3, INTERMEDIATE: 48, VOCABULARY: 50, POSITIONS: 40}
LARGE = {small: large for large, small in SMALL.items()}


def large(shape):
    return tuple(LARGE.get(extent, extent) for extent in shape)


def bert(names):
    """BERT in two blocks; `names` makes a layer's name argument, or None for Keras's own names."""
    keras.backend.clear_session()  # names count from zero
    hidden, wide = SMALL[HIDDEN], SMALL[INTERMEDIATE]

    def embedding(count, name):
        return layers.Embedding(count, hidden, embeddings_initializer="zeros", name=names(name))

    def dense(width, name):
        return layers.Dense(width, kernel_initializer="zeros", name=names(name))

    def norm(name):
        return layers.LayerNormalization(name=names(name))

    ids = keras.Input((None,), dtype="int32")
    tokens = embedding(SMALL[VOCABULARY], "word_embeddings")(ids)
    positions = embedding(SMALL[POSITIONS], "position_embeddings")(ids)
    types = embedding(2, "token_type_embeddings")(ids)
    x = norm("embeddings_ln")(layers.Add()([tokens, positions, types]))
    for i in range(BLOCKS):
        name = names(f"layer_{i}_attention")
        attention = layers.MultiHeadAttention(HEADS, SMALL[HEAD], kernel_initializer="zeros", name=name)
        x = norm(f"layer_{i}_attention_ln")(layers.Add()([x, attention(x, x)]))
        inner = dense(wide, f"layer_{i}_intermediate")(x)
        x = norm(f"layer_{i}_output_ln")(layers.Add()([x, dense(hidden, f"layer_{i}_output")(inner)]))
    return keras.Model(ids, x)


def datasets(path):
    found = {}
    with h5py.File(path) as file:

        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                found[name] = large(item.shape)

        file.visititems(visit)
    return found


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    """Path -> shape under each family of names."""
    named = bert(lambda name: name)
    unnamed = bert(lambda name: None)
    path = tmp_path_factory.mktemp("bert") / "bert.weights.h5"
    unnamed.save_weights(path)
    return {
        "named": {v.path: large(v.shape) for v in named.weights},
        "unnamed": {v.path: large(v.shape) for v in unnamed.weights},
        "datasets": datasets(path),
        "hugging_face": hugging_face(),
    }


def hugging_face():
    out = {
        "embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "bert.embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.position_ids": (1, POSITIONS),
        "pooler.dense.weight": (HIDDEN, HIDDEN),
        "pooler.dense.bias": (HIDDEN,),
    }
    for i in range(6):
        block = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            out[f"{block}attention.self.{part}.weight"] = (HIDDEN, HIDDEN)
            out[f"{block}attention.self.{part}.bias"] = (HIDDEN,)
        out[block + "attention.output.dense.weight"] = (HIDDEN, HIDDEN)
        out[block + "attention.output.LayerNorm.weight"] = (HIDDEN,)
        out[block + "intermediate.dense.weight"] = (INTERMEDIATE, HIDDEN)
        out[block + "intermediate.dense.bias"] = (INTERMEDIATE,)
        out[block + "output.dense.weight"] = (HIDDEN, INTERMEDIATE)
    return out


def place_all(ask, layout, mesh, found, axes=("batch", "model")):
    question = {
        "ask": "distribution",
        "builtin": layout,
        "mesh": {"shape": list(mesh), "axes": list(axes), "devices": mesh[0] * mesh[1]},
        "variables": [[name, list(shape)] for name, shape in found.items()],
    }
    (answer,) = ask([question])
    assert "error" not in answer, answer
    return dict(zip(found, answer["variables"]))


@pytest.mark.parametrize("family", ["named", "unnamed", "datasets", "hugging_face"])
@pytest.mark.parametrize("mesh", MESHES)
def test_minilm_places_on_every_mesh(ask, variables, family, mesh):
    answers = place_all(ask, "bert", mesh, variables[family])
    assert len(answers) > 30
    for name, answer in answers.items():
        shape = variables[family][name]
        assert "error" not in answer, (name, answer)
        is_weight = len(shape) > 1 and shape[0] > 1 and "bias" not in name and not name.endswith("vars/1")
        assert answer["has_rule"] == is_weight, (name, shape)
        if is_weight:
            assert answer["boxes"] % mesh[1] == 0, (name, answer)


def test_large_weights_of_one_role_have_one_meaning(ask, variables):
    """A Keras kernel and its Hugging Face matrix are split into shards of the same elements."""
    keras_names = place_all(ask, "bert", (2, 4), variables["unnamed"])
    stored = place_all(ask, "bert", (2, 4), variables["datasets"])
    assert stored["layers/multi_head_attention/query_dense/vars/0"]["layout"] == ["model", None, None]
    assert stored["layers/multi_head_attention_1/output_dense/vars/0"]["layout"] == [None, None, "model"]
    assert stored["layers/dense/vars/0"]["layout"] == ["batch", "model"]
    assert stored["layers/dense_1/vars/0"]["layout"] == ["model", "batch"]
    assert stored["layers/dense_3/vars/0"]["layout"] == ["model", "batch"]
    assert keras_names["dense_1/kernel"]["layout"] == ["model", "batch"]
    assert keras_names["dense_2/kernel"]["layout"] == ["batch", "model"]


GEMMA = dict(V=256000, D=2304, F=9216, Q=8, K=4, H=256)
GEMMA_NAMES = {
    # role: Keras variable, its shape, dataset, Hugging Face name, its shape, GGUF name
    "embeddings": ("token_embedding/embeddings", "VD", "layers/reversible_embedding/vars/0")
    + ("model.embed_tokens.weight", ["V", "D"], "token_embd.weight"),
    "query": ("decoder_block_1/attention/query/kernel", "QDH", "layers/gemma_decoder_block_1/attention/query_dense/vars/0")
    + ("model.layers.1.self_attn.q_proj.weight", ["QH", "D"], "blk.1.attn_q.weight"),
    "key": ("decoder_block_0/attention/key/kernel", "KDH", "layers/gemma_decoder_block/attention/key_dense/vars/0")
    + ("model.layers.0.self_attn.k_proj.weight", ["KH", "D"], "blk.0.attn_k.weight"),
    "output": ("decoder_block_0/attention/attention_output/kernel", "QHD")
    + ("layers/gemma_decoder_block/attention/output_dense/vars/0", "model.layers.0.self_attn.o_proj.weight")
    + (["D", "QH"], "blk.0.attn_output.weight"),
    "gate": ("decoder_block_0/ffw_gating/kernel", "DF", "layers/gemma_decoder_block/gating_ffw/vars/0")
    + ("model.layers.0.mlp.gate_proj.weight", ["F", "D"], "blk.0.ffn_gate.weight"),
    "up": ("decoder_block_0/ffw_gating_2/kernel", "DF", "layers/gemma_decoder_block/gating_ffw_2/vars/0")
    + ("model.layers.0.mlp.up_proj.weight", ["F", "D"], "blk.0.ffn_up.weight"),
    "down": ("decoder_block_0/ffw_linear/kernel", "FD", "layers/gemma_decoder_block/ffw_linear/vars/0")
    + ("model.layers.0.mlp.down_proj.weight", ["D", "F"], "blk.0.ffn_down.weight"),
}


def size(letters):
    product = 1
    for letter in letters:
        product *= GEMMA[letter]
    return product


@pytest.mark.parametrize("role", GEMMA_NAMES)
@pytest.mark.parametrize("axes", [("batch", "model"), ("data", "model")])
def test_gemma_families_say_the_same_shard(ask, role, axes):
    path, letters, dataset, name, matrix, gguf = GEMMA_NAMES[role]
    shape = [size(letter) for letter in letters]
    matrix_shape = [size(word) for word in matrix]
    found = {path: shape, dataset: shape, "backbone/" + dataset: shape, name: matrix_shape, gguf: matrix_shape}
    answers = place_all(ask, "gemma", (2, 4), found, axes)
    in_keras = answers[path]["layout"]
    assert answers[dataset]["layout"] == answers["backbone/" + dataset]["layout"] == in_keras
    # The matrix has the same dimensions, some merged, in another order: each is split by the axis that splits it in Keras.
    split_by = dict(zip(letters, in_keras))
    expected = [next((split_by[x] for x in word if split_by[x]), None) for word in matrix]
    assert answers[name]["layout"] == answers[gguf]["layout"] == expected
    assert all(answer["boxes"] == 8 for answer in answers.values())


def test_meshes_without_the_axes(ask):
    kernel = {"decoder_block_0/ffw_gating/kernel": (2048, 16384)}
    for axes, layout in ((("batch", "x"), ["batch", None]), (("x", "model"), [None, "model"])):
        assert place_all(ask, "gemma", (2, 4), kernel, axes)["decoder_block_0/ffw_gating/kernel"]["layout"] == layout
    mesh = {"shape": [2, 4], "axes": ["x", "y"], "devices": 8}
    (answer,) = ask([{"ask": "distribution", "builtin": "gemma", "mesh": mesh, "variables": []}])
    assert "named 'model' and 'batch' (or 'data'), but the mesh has ['x', 'y']" in answer["error"]


def test_one_key_value_head_is_refused_with_the_remedy(ask):
    """gemma_2b has one key-value head."""
    mesh = {"shape": [1, 8], "axes": ["batch", "model"], "devices": 8}
    question = {"ask": "distribution", "builtin": "gemma", "mesh": mesh}
    question["variables"] = [["decoder_block_0/attention/key/kernel", [1, 2048, 256]]]
    refused, placed = ask([question, question | {"uneven": "replicate"}])
    assert "uneven=replicate" in refused["variables"][0]["error"]
    assert placed["variables"][0]["boxes"] == 1
