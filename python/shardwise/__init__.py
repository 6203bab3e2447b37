"""shardwise: initialise and load large-model weights straight into their shards.

    import shardwise.keras as sw          # Keras on JAX: sw.load_weights, sw.plan, sw.sharded
    import shardwise.jax                  # JAX alone: shardwise.jax.load

The names of this module are those of the C++ library (shardwise._core); importing it imports neither Keras nor JAX.
"""

from ._core import (
    AutoParallel,
    CancelledError,
    Catalog,
    DataLossError,
    DataParallel,
    Device,
    DeviceMesh,
    Distribution,
    LayoutMap,
    LoadPlan,
    ModelParallel,
    Placement,
    PlannedVariable,
    ResourceExhaustedError,
    ShardedArray,
    TensorInfo,
    View,
    abstract_devices,
    builtin_layout,
    can_cast,
    host_devices,
    load,
    open_checkpoint,
    parse_layout,
    place,
    place_boxes,
    plan_load,
)

__version__ = "0.1.0"
__all__ = [name for name in dir() if not name.startswith("_")]
