"""Settings: how sw.load_weights, sw.plan and sw.sharded go about it."""

import dataclasses
from collections.abc import Callable

from ..jax._options import LoadOptions


@dataclasses.dataclass(frozen=True)
class Settings:
    """
    keep_old: a variable keeps its old value until all new ones are there, so that a failed load changes nothing. False:
        old values are released group by group, each before its own read, for devices that cannot hold both; after a
        failure those variables hold no value, and say so when they are used.
    release_bytes: size of such a group, about.
    staging: bytes of host memory for reads in flight; at least 8 MiB.
    host_budget: most bytes that may be read whole into host memory, for layers that ask for values; None = no limit.
    threads: 0 = one per core.
    progress: None, or a function of (bytes_done, bytes_total, tensors_done, tensors_total).
    """

    keep_old: bool = True
    release_bytes: int = 256 << 20
    staging: int = 64 << 20
    host_budget: int | None = None
    threads: int = 0
    progress: Callable[[int, int, int, int], object] | None = None
    fingerprints: bool = False

    def load_options(self) -> LoadOptions:
        return LoadOptions(self.staging, self.threads, self.progress, self.fingerprints)
