"""A progress bar for terminals."""

import sys


class Bar:
    """Writes one line to stderr, over and over."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr

    def __call__(self, bytes_done, bytes_total, tensors_done, tensors_total):
        share = bytes_done / bytes_total if bytes_total else 1.0
        filled = int(24 * share)
        self._stream.write(
            f"\r[{'#' * filled}{'.' * (24 - filled)}] {100 * share:3.0f}% of {bytes_total / 2**30:.2f} GiB, "
            f"{tensors_done} of {tensors_total} tensors"
        )
        if tensors_done == tensors_total:
            self._stream.write("\n")
        self._stream.flush()


def choose(progress):
    """What `progress=` means: "auto" = a bar where stderr is a terminal; True, False, or a function."""
    if progress == "auto":
        progress = sys.stderr.isatty()
    return Bar() if progress is True else progress or None
