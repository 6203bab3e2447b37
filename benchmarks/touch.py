"""Memory that costs the same for everybody who is measured.

A virtual machine's host takes back pages that the guest has not used for a second or two, and whoever asks for them next
waits up to ten times as long as for the others. touch() asks for them and gives them back. It waits before, until the
host has taken what others left: else that may happen in the middle of the measurement.
"""

import mmap
import time

SETTLE_SECONDS = 2.5


def touch(mib):
    """To be called right before a measurement that may need that much memory."""
    time.sleep(SETTLE_SECONDS)
    memory = mmap.mmap(-1, mib << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, len(memory), mmap.PAGESIZE):
        memory[at] = 1
    memory.close()
