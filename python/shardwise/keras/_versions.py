"""The versions of Keras and JAX that shardwise is tested with."""

import warnings

TESTED_KERAS = ((3, 12), (3, 15))
TESTED_JAX = ((0, 8), (0, 10))


def number(version: str) -> tuple[int, int]:
    """(3, 15) of "3.15.1"; (0, 0) for what is no version."""
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return 0, 0


def reason_to_stand_aside() -> str:
    """Why Keras must be left to itself here; empty when it need not."""
    import jax
    import keras

    if keras.backend.backend() != "jax":
        return f"the Keras backend is {keras.backend.backend()}, not jax"
    for name, version, (low, high) in (
        ("Keras", keras.__version__, TESTED_KERAS),
        ("JAX", jax.__version__, TESTED_JAX),
    ):
        if not low <= number(version) <= high:
            return f"{name} {version} is outside the tested range {_text(low)} to {_text(high)}"
    return ""


def stands_aside() -> str:
    """As reason_to_stand_aside(), and warns when there is one."""
    reason = reason_to_stand_aside()
    if reason:
        warnings.warn(f"shardwise leaves loading and initialising to Keras: {reason}", stacklevel=3)
    return reason


def _text(version):
    return ".".join(map(str, version))
