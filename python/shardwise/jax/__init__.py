"""JAX arrays straight from checkpoints, each device's shard read into its own memory.

    mesh = jax.make_mesh((8,), ("model",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("model", None))
    arrays = shardwise.jax.load("model.safetensors", {"embedding": sharding})
"""

from ._load import load, plan
from ._options import LoadOptions

__all__ = ["LoadOptions", "load", "plan"]
