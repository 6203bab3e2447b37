"""One of two processes with four CPU devices each, which load the same model together. Arguments: folder, port, number.

Prints "same" when every shard that this process holds is what the file says, and how many bytes it read of it.
"""

import os
import sys

folder, port, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["KERAS_BACKEND"] = "jax"

import jax

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=number)

import h5py
import keras
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
from keras.distribution import DeviceMesh, LayoutMap, ModelParallel

import shardwise.jax
import shardwise.keras as sw

assert len(jax.devices()) == 8 and len(jax.local_devices()) == 4
mesh = DeviceMesh((1, 8), ("batch", "model"))
layout_map = LayoutMap(mesh)
layout_map["words/embeddings"] = ("model", None)
layout_map["wide/kernel"] = (None, "model")
keras.distribution.set_distribution(ModelParallel(layout_map=layout_map, auto_shard_dataset=False))


def check(array, expected):
    for shard in array.addressable_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), expected[shard.index])


with sw.sharded(progress=False) as report:
    inputs = keras.Input((4,), dtype="int32")
    x = keras.layers.Embedding(4096, 256, name="words")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(64, name="wide")(x))
    model.load_weights(f"{folder}/m.weights.h5")
with h5py.File(f"{folder}/m.weights.h5") as file:
    for variable, name in zip(model.variables, ["embedding/vars/0", "dense/vars/0", "dense/vars/1"], strict=True):
        check(variable.value, file[f"layers/{name}"][()])
    table = file["layers/embedding/vars/0"][()]
total = jax.jit(lambda v: v.sum(), out_shardings=NamedSharding(mesh.backend_mesh, P()))(model.variables[0].value)
np.testing.assert_allclose(np.asarray(total.addressable_shards[0].data), table.sum(), rtol=1e-3)

sharding = NamedSharding(mesh.backend_mesh, P("model"))
(array,) = shardwise.jax.load(f"{folder}/m.weights.h5", {"layers/embedding/vars/0": sharding}).values()
check(array, table)
made = shardwise.jax.normal(jax.random.key(3), (64, 8), sharding=sharding)
check(made, np.asarray(jax.random.normal(jax.random.key(3), (64, 8))))
print("same", report.bytes_read, table.nbytes)
