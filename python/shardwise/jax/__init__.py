"""JAX arrays straight from checkpoints, each device's shard read into its own memory.

    mesh = jax.make_mesh((8,), ("model",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("model", None))
    arrays = shardwise.jax.load("model.safetensors", {"embedding": sharding})
"""

from ._load import load, plan
from ._options import LoadOptions
from ._random import bernoulli, bits, normal, randint, truncated_normal, uniform

__all__ = ["LoadOptions", "bernoulli", "bits", "load", "normal", "plan", "randint", "truncated_normal", "uniform"]
