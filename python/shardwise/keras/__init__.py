"""Keras on JAX: weights straight into their shards.

    import shardwise.keras as sw

    sw.load_weights(model, "gemma.weights.json")      # as model.load_weights(), and a report
    print(sw.plan(model, "gemma.weights.json"))       # what it would take
    with sw.sharded():                                # everything that Keras loads and initialises in here
        model = keras.saving.load_model("model.keras")
"""

from ._load import load_weights, plan, sharded
from ._report import Report, WholeRead

__all__ = ["Report", "WholeRead", "load_weights", "plan", "sharded"]
