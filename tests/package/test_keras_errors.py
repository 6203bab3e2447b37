"""Failing loads: Keras's texts, and models as they were before."""

import threading
import time
import warnings

import jax
import keras
import numpy as np
import pytest
import safetensors.numpy
from keras import layers

import shardwise
import shardwise.keras as sw
from zoo import MODELS, sequential


def values(model):
    return [np.asarray(v.value).copy() for v in model.variables]


def assert_values(model, expected):
    for variable, value in zip(model.variables, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(variable.value), value, err_msg=variable.path)


def wide(units=32, last=8, name="head"):
    return sequential(layers.Dense(units, name="wide_a"), layers.Dense(last, name=name), shape=(16,))


@pytest.fixture
def file(distribution, tmp_path):
    wide().save_weights(tmp_path / "m.weights.h5")
    return tmp_path / "m.weights.h5"


def outcome(load, model, path, **kwargs):
    """(exception or None, warnings) as texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            load(model, path, **kwargs)
            error = None
        except Exception as e:
            error = (type(e), str(e))
    return error, [str(w.message) for w in caught if w.category is UserWarning]


def keras_load(model, path, **kwargs):
    model.load_weights(path, **kwargs)


def ours(model, path, **kwargs):
    sw.load_weights(model, path, progress=False, **kwargs)


@pytest.mark.parametrize("skip_mismatch", [False, True])
@pytest.mark.parametrize(
    "build",
    [
        lambda: wide(last=4),  # one shape
        lambda: wide(units=64),  # several shapes, a large variable among them
        lambda: sequential(layers.Dense(32, use_bias=False), layers.Dense(8), shape=(16,)),  # counts
        lambda: sequential(*[layers.Dense(n, name=f"d{n}") for n in (32, 8, 4)], shape=(16,)),  # one more
        lambda: sequential(layers.BatchNormalization(), layers.Dense(32), shape=(16,)),  # other kinds
    ],
)
def test_mismatches_as_keras(build, skip_mismatch, file, distribution):
    theirs, model = (_with_first_names(build, distribution) for _ in range(2))
    before = values(model)
    for variable, value in zip(theirs.variables, before):
        variable.assign(value)
    expected = outcome(keras_load, theirs, file, skip_mismatch=skip_mismatch)
    found = outcome(ours, model, file, skip_mismatch=skip_mismatch)
    assert found == expected
    if skip_mismatch:
        assert_values(model, values(theirs))  # what fits is loaded, up to the first misfit of each layer
    else:
        assert found[0][0] is ValueError
        assert_values(model, before)


def _with_first_names(build, distribution):
    """The model with the names that it has in a new process."""
    keras.utils.clear_session(free_memory=False)
    keras.distribution.set_distribution(distribution)
    return build()


def test_what_keras_checks_first(file, tmp_path):
    unbuilt = keras.Sequential([layers.Dense(3)])
    assert outcome(ours, unbuilt, file) == outcome(keras_load, unbuilt, file) != (None, [])
    model = wide()
    for path, kwargs in [
        (tmp_path / "m.keras", {"objects_to_skip": []}),
        (tmp_path / "m.weights.h5", {"by_name": True}),
        (tmp_path / "m.weights.h5", {"unknown": 1}),
        (tmp_path / "m.npz", {}),
    ]:
        expected = outcome(keras_load, model, path, **kwargs)
        assert outcome(ours, model, path, **kwargs) == expected
        assert expected[0][0] is ValueError


def test_objects_to_skip(file):
    theirs, model = wide(), wide()
    for variable, value in zip(theirs.variables, values(model)):
        variable.assign(value)
    theirs.load_weights(file, objects_to_skip=[theirs.layers[0]])
    report = sw.load_weights(model, file, objects_to_skip=[model.layers[0]], progress=False)
    assert_values(model, values(theirs))
    assert report.variables == 2 and report.left_over == ["layers/dense/vars"]


def test_missing_and_damaged_files(file, tmp_path):
    model = wide()
    before = values(model)
    with pytest.raises(FileNotFoundError):
        ours(model, tmp_path / "none.weights.h5")
    (tmp_path / "cut.weights.h5").write_bytes(file.read_bytes()[:-100])
    with pytest.raises(OSError, match="cut.weights.h5"):
        ours(model, tmp_path / "cut.weights.h5")
    assert_values(model, before)


def test_a_load_that_fails_late_changes_nothing(file, monkeypatch):
    model = wide()
    before, raw = values(model), [v._value for v in model.variables]
    calls = []

    def progress(*args):
        calls.append(args)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sw.load_weights(model, file, progress=progress)
    assert calls and all(a is b._value for a, b in zip(raw, model.variables))
    assert_values(model, before)
    ours(model, file)


def test_eager_assigns_of_a_failed_load_are_undone(distribution, tmp_path):
    """A layer whose own loading computes, next to one that does not fit."""
    from zoo import Block

    sequential(Block(name="block"), layers.Dense(8), shape=(8,)).save_weights(tmp_path / "m.weights.h5")
    model = sequential(Block(name="block"), layers.Dense(4), shape=(8,))
    before = values(model)
    with pytest.raises(ValueError, match="1 objects could not be loaded"):
        ours(model, tmp_path / "m.weights.h5")
    assert_values(model, before)


def test_without_old_values(file):
    model, theirs = wide(), wide()
    theirs.load_weights(file)
    sw.load_weights(model, file, keep_old=False, progress=False)
    assert_values(model, values(theirs))

    def progress(*args):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sw.load_weights(model, file, keep_old=False, progress=progress)
    with pytest.raises(RuntimeError, match="wide_a/kernel holds no value: .*keep_old=False.*load it again"):
        model(np.zeros((1, 16), "float32"))
    sw.load_weights(model, file, keep_old=False, progress=False)
    assert_values(model, values(theirs))


def test_budget_for_whole_reads(distribution, tmp_path):
    model = MODELS["custom"]()
    model.save_weights(tmp_path / "m.weights.h5")
    report = sw.load_weights(model, tmp_path / "m.weights.h5", progress=False)
    assert [(r.tensor, r.nbytes) for r in report.whole_reads] == [("layers/block/vars/scale_halved", 32)]
    assert "read whole on the host: layers/block/vars/scale_halved (32 B)" in str(report)
    with pytest.raises(ValueError, match="host_budget is 8"):
        sw.load_weights(model, tmp_path / "m.weights.h5", host_budget=8, progress=False)


def test_left_over_groups_and_rules_are_reported(distribution, tmp_path):
    sequential(layers.Dense(32), layers.Dense(8), shape=(16,)).save_weights(tmp_path / "m.weights.h5")
    model = sequential(layers.Dense(32), shape=(16,))
    report = sw.load_weights(model, tmp_path / "m.weights.h5", progress=False)
    assert report.left_over == ["layers/dense_1/vars"]
    assert ".*wide_conv1/kernel$" in report.unmatched_rules and len(report.unmatched_rules) == 5
    assert "left over in the file: layers/dense_1/vars" in str(report)


def test_plan_changes_nothing_and_says_what_keras_needs(file):
    model = wide()
    before, raw = values(model), [v._value for v in model.variables]
    plan = sw.plan(model, file)
    assert all(a is b._value for a, b in zip(raw, model.variables))
    assert_values(model, before)
    devices = plan.load_plan.devices
    assert [d["id"] for d in devices] == [f"cpu:{k}" for k in range(8)]
    # wide_a is cut in four; everything else is whole on each device; blocks are multiples of 64 bytes.
    assert {d["bytes"] for d in devices} == {16 * 32 * 4 // 4 + 32 * 4 + 32 * 8 * 4 + 64}
    assert plan.load_plan.load_then_shard_device0_bytes == 2 * 16 * 32 * 4 + sum(
        [16 * 32 * 4 // 4, 32 * 4, 32 * 8 * 4, 32]
    )
    assert "wide_a/kernel" in str(plan) and "load-then-shard needs" in str(plan)
    wrong = wide(last=4)
    with pytest.raises(ValueError, match="must match"):
        sw.plan(wrong, file)


def test_safetensors_by_the_names_of_variables(distribution, tmp_path):
    model = wide()
    expected = [v + 1 for v in values(model)]
    content = {v.path.replace("/", "."): value for v, value in zip(model.variables, expected)}
    safetensors.numpy.save_file(content, tmp_path / "m.safetensors")
    ours(model, tmp_path / "m.safetensors")
    assert_values(model, expected)
    del content["sequential.head.bias"]
    content["more"] = np.zeros(3, np.float32)
    safetensors.numpy.save_file(content, tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match="no tensor for 1 of 4 variables: sequential/head/bias"):
        ours(model, tmp_path / "m.safetensors")
    report = sw.load_weights(model, tmp_path / "m.safetensors", skip_mismatch=True, progress=False)
    assert report.left_over == ["more"]
    assert_values(model, expected)


def test_keras_is_as_before(file):
    from keras.src.backend.common.variables import Variable
    from keras.src.backend.jax.core import JaxVariable
    from keras.src.saving import saving_lib

    # Keras 3.12 has it in the base class only.
    initializing = JaxVariable if "_initialize_with_initializer" in vars(JaxVariable) else Variable
    places = [(Variable, "assign"), (Variable, "value"), (initializing, "_initialize_with_initializer")]
    places += [(saving_lib, "_load_state"), (saving_lib, "is_memory_sufficient")]
    places += [(saving_lib.H5IOStore, "_get_h5_file")]
    before = [vars(owner)[name] for owner, name in places]
    with sw.sharded():
        with sw.sharded():
            assert all(vars(o)[n] is not b for (o, n), b in zip(places, before))
        ours(wide(), file)
    with pytest.raises(ZeroDivisionError), sw.sharded():
        1 / 0
    assert [vars(owner)[name] for owner, name in places] == before


def test_other_threads_notice_nothing(file):
    """A thread that loads with Keras while another is inside sharded(), and one that loads with us beside it."""
    models = [wide() for _ in range(4)]
    inside, errors, reports = threading.Event(), [], {}
    expected = wide()
    expected.load_weights(file)

    def plain():
        try:
            inside.wait()
            for _ in range(5):
                models[0].load_weights(file)
                assert type(models[0].layers[0].kernel.value) is type(expected.layers[0].kernel.value)
        except Exception as error:
            errors.append(error)

    def sharded(k):
        try:
            inside.wait()
            for _ in range(5):
                reports[k] = sw.load_weights(models[k], file, progress=False)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=plain)] + [threading.Thread(target=sharded, args=(k,)) for k in (1, 2)]
    for thread in threads:
        thread.start()
    with sw.sharded() as report:
        inside.set()
        models[3].load_weights(file)
        for thread in threads:
            thread.join()
    assert not errors
    assert report.variables == 4 and all(r.variables == 4 for r in reports.values())
    for model in models:
        assert_values(model, values(expected))


def test_versions_out_of_range_stand_aside(file, monkeypatch):
    monkeypatch.setattr(keras, "__version__", "3.99.0")
    model, theirs = wide(), wide()
    theirs.load_weights(file)
    with pytest.warns(UserWarning, match="Keras 3.99.0 is outside the tested range 3.12 to 3.15"):
        report = sw.load_weights(model, file)
    assert report.fallback
    assert_values(model, values(theirs))
    with pytest.warns(UserWarning, match="outside the tested range"), sw.sharded() as report:
        pass
    assert report.fallback
