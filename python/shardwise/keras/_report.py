"""What a load did."""

import dataclasses


@dataclasses.dataclass
class WholeRead:
    """A stored tensor (or a part of it) that was read into host memory because something asked for its values."""

    tensor: str
    nbytes: int


@dataclasses.dataclass
class Report:
    """What sw.load_weights() and sw.sharded() return. Sizes in bytes."""

    path: str = ""
    format: str = ""
    variables: int = 0  # that got their values shard by shard
    initialized: int = 0  # variables whose first values were made shard by shard
    initialized_whole: int = 0  # whose first values Keras's own initializers had to make in one piece
    bytes_read: int = 0  # from storage
    seconds: float = 0.0  # in loads, without Keras's walk
    staging_peak_bytes: int = 0
    whole_reads: list[WholeRead] = dataclasses.field(default_factory=list)
    left_over: list[str] = dataclasses.field(default_factory=list)  # groups of the file that nothing asked for
    unmatched_rules: list[str] = dataclasses.field(default_factory=list)  # of the active distribution's layout map
    fallback: str = ""  # why Keras's own path was taken, if it was
    fingerprints: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def whole_bytes(self) -> int:
        return sum(read.nbytes for read in self.whole_reads)

    def add(self, statistics: dict, variables: int) -> None:
        self.variables += variables
        self.bytes_read += statistics["bytes_read"]
        self.seconds += statistics["seconds"]
        self.staging_peak_bytes = max(self.staging_peak_bytes, statistics["staging_peak_bytes"])
        self.fingerprints |= statistics["fingerprints"]

    def __str__(self) -> str:
        if self.fallback:
            return f"{self.path}: loaded by Keras itself: {self.fallback}"
        lines = [
            f"{self.path} ({self.format}): {self.variables} variables, {_size(self.bytes_read)} read in "
            f"{self.seconds:.2f} s, staging {_size(self.staging_peak_bytes)}"
        ]
        if self.initialized:
            lines.append(f"  initialised shard by shard: {self.initialized} variables")
        if self.initialized_whole:
            lines.append(f"  initialised whole by Keras: {self.initialized_whole} variables")
        for read in self.whole_reads:
            lines.append(f"  read whole on the host: {read.tensor} ({_size(read.nbytes)})")
        lines += [f"  left over in the file: {group}" for group in self.left_over]
        lines += [f"  layout rule that matched nothing: {rule}" for rule in self.unmatched_rules]
        return "\n".join(lines)


def _size(nbytes):
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1024
    return f"{nbytes:.3g} GiB"
