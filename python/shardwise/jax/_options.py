"""Options of loads, common to shardwise.jax and shardwise.keras."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class LoadOptions:
    """How a load runs. The defaults suit a machine that does nothing else.

    staging: bytes of host memory for reads in flight, beside the arrays; at least 8 MiB.
    threads: 0 = one per core.
    progress: called as progress(bytes_done, bytes_total, tensors_done, tensors_total), at most ten times a second, from
        another thread; must not block for long. An exception of its own stops the load.
    fingerprints: make a checksum of each tensor that is read whole; costs a pass over the bytes.
    """

    staging: int = 64 << 20
    threads: int = 0
    progress: Callable[[int, int, int, int], object] | None = None
    fingerprints: bool = False
