"""DeviceMesh and LayoutMap against keras.distribution of Keras 3.15: choices and error texts."""

import random
import re

import keras
import pytest

DEVICES = 8


def keras_mesh(shape, axes, devices=DEVICES):
    return keras.distribution.DeviceMesh(tuple(shape), list(axes), keras.distribution.list_devices()[:devices])


def normal(text):
    """A set prints in no order; sort what stands between braces."""
    return re.sub(r"\{([^{}]*)\}", lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}", text)


@pytest.mark.parametrize(
    "shape, axes, devices",
    [
        ([8], ["batch"], 8),
        ([2, 4], ["data", "model"], 8),
        ([2, 2, 2], ["a", "b", "c"], 8),
        ([1, 1], ["it's", 'sa"y'], 1),
        ([], [], 8),
        ([8], [], 8),
        ([], ["x"], 8),
        ([2, 4], ["x"], 8),
        ([8], ["x", "y"], 8),
        ([2, 4], ["x", "y"], 6),
        ([3], ["x"], 8),
        ([0], ["x"], 8),
        ([-8], ["x"], 8),
    ],
)
def test_meshes(ask, shape, axes, devices):
    (answer,) = ask([{"ask": "mesh", "mesh": {"shape": shape, "axes": axes, "devices": devices}}])
    try:
        expected = {"repr": repr(keras_mesh(shape, axes, devices))}
    except ValueError as error:
        expected = {"error": str(error), "code": "INVALID_ARGUMENT"}
    assert answer == expected


def keras_answer(question):
    mesh = keras_mesh(question["mesh"]["shape"], question["mesh"]["axes"])
    layout_map = keras.distribution.LayoutMap(mesh)
    problems = []
    for key, axes in question["rules"]:
        try:
            layout_map[key] = tuple(axes)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        return {"error": "\n".join(problems), "code": "INVALID_ARGUMENT"}
    found = []
    for path in question["paths"]:
        try:
            layout = layout_map[path]
            found.append(None if layout is None else list(layout.axes))
        except ValueError as error:
            found.append({"error": str(error), "code": "INVALID_ARGUMENT"})
    return {"found": found}


KEYS = [".*", ".*kernel", ".*dense.*kernel", ".*dense_1.*", "dense/kernel", "dense_1/bias", "dense.*", ".*/bias", "dense"]
KEYS += [r"layer_\d+/kernel", r"layer_\d/.*", "(?i).*KERNEL", "layer_1/kernel", ".*norm.*(gamma|beta)", "norm/gamma"]
KEYS += [r"a\\b'", 'x"y', "x'\"y", "caf\u00e9/.*", "(?P<name>dense)/(kernel|bias)", r".*(?<!_1)/kernel", "a\tb|c"]
PATHS = ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias", "sequential/dense/kernel", "layer_1/kernel"]
PATHS += ["layer_22/kernel", "norm/gamma", "block/norm/beta", "other", r"a\\b'", r"a\b'", 'x"y', "caf\u00e9/x", "", "dense"]
PATHS += [".*", ".*kernel", "a\tb|c", "c", "it's"]


def random_question(source):
    rules = []
    for _ in range(source.randrange(1, 7)):
        axes = ["data", "model", None, None] + (["nope", "other"] if source.random() < 0.15 else [])
        rules.append([source.choice(KEYS), [source.choice(axes) for _ in range(source.randrange(4))]])
    mesh = {"shape": [2, 4], "axes": ["data", "model"], "devices": DEVICES}
    return {"ask": "map", "mesh": mesh, "rules": rules, "paths": PATHS}


def test_random_rules(ask):
    source = random.Random(17)
    asked = [random_question(source) for _ in range(500)]
    seen = {"refused": 0, "ambiguous": 0, "found": 0, "none": 0}
    for question, answer in zip(asked, ask(asked)):
        expected = keras_answer(question)
        if "error" in expected:
            assert normal(answer["error"]) == normal(expected["error"]), question
            seen["refused"] += 1
            continue
        assert answer == expected, question
        for item in answer["found"]:
            seen["none" if item is None else "found" if isinstance(item, list) else "ambiguous"] += 1
    assert min(seen.values()) > 30, seen


def test_keras_and_we_agree_on_published_maps(ask):
    """The first rules of the built-in maps, set in Keras, choose what the built-in maps choose."""
    blocks = {
        "gemma": ["token_embedding/embeddings", "decoder_block_3/attention/query/kernel"]
        + ["decoder_block_3/attention/attention_output/kernel", "decoder_block_0/ffw_gating/kernel"]
        + ["decoder_block_0/ffw_gating_2/kernel", "decoder_block_0/ffw_linear/kernel", "final_normalization/scale"],
        "llama": ["token_embedding/embeddings", "transformer_layer_1/self_attention/value/kernel"]
        + ["transformer_layer_1/self_attention/attention_output/kernel", "token_embedding/reverse_embeddings"]
        + ["transformer_layer_1/feedforward_intermediate_dense/kernel"]
        + ["transformer_layer_1/feedforward_gate_dense/kernel", "transformer_layer_1/feedforward_output_dense/kernel"],
    }
    # Written down from keras-hub 0.32, by role: m the model axis, d the data axis.
    published = {
        "gemma": {
            "token_embedding/embeddings": "md",
            "decoder_block.*attention.*(query|key|value).kernel": "md-",
            "decoder_block.*attention_output.kernel": "m-d",
            "decoder_block.*ffw_gating.kernel": "dm",
            "decoder_block.*ffw_gating_2.kernel": "dm",
            "decoder_block.*ffw_linear.kernel": "md",
        },
        "llama": {
            "token_embedding/embeddings": "md",
            "transformer_layer.*self_attention.*(query|key|value).kernel": "md-",
            "transformer_layer.*attention_output.kernel": "m-d",
            "transformer_layer.*feedforward_intermediate_dense.kernel": "dm",
            "transformer_layer.*feedforward_gate_dense.kernel": "dm",
            "transformer_layer.*feedforward_output_dense.kernel": "md",
        },
    }
    for family, paths in blocks.items():
        layout_map = keras.distribution.LayoutMap(keras_mesh([2, 4], ["batch", "model"]))
        for key, roles in published[family].items():
            layout_map[key] = tuple({"m": "model", "d": "batch", "-": None}[role] for role in roles)
        mesh = {"shape": [2, 4], "axes": ["batch", "model"], "devices": DEVICES}
        variables = [[path, [64, 64, 64]] for path in paths]
        (answer,) = ask([{"ask": "distribution", "builtin": family, "mesh": mesh, "variables": variables}])
        for path, got in zip(paths, answer["variables"]):
            expected = layout_map[path]
            assert got["has_rule"] == (expected is not None), path
            assert got["layout"] == (list(expected.axes) if expected else [None] * 3), path
