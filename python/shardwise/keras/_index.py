"""numpy's basic indexing, as begin, end and step per dimension."""

import dataclasses
import operator


@dataclasses.dataclass
class Basic:
    """A slice of each dimension, then a reshape that drops dimensions indexed by a number and adds new ones."""

    begin: list[int]
    end: list[int]
    step: list[int]
    shape: tuple[int, ...]


def parse_index(key, shape: tuple[int, ...]) -> Basic | None:
    """The index as a Basic; None when it is not one (arrays, masks, steps backwards).

    Raises IndexError as numpy does: too many indices, a number out of bounds.
    """
    keys = _expand(key if isinstance(key, tuple) else (key,), len(shape))
    if keys is None:
        return None
    index = Basic([], [], [], ())
    result = []
    dimension = 0
    for k in keys:
        if k is None:
            result.append(1)
            continue
        begin, end, step, count = _one(k, shape[dimension], dimension)
        if step is None:
            return None
        index.begin.append(begin)
        index.end.append(end)
        index.step.append(step)
        if count is not None:
            result.append(count)
        dimension += 1
    index.shape = tuple(result)
    return index


def _expand(keys, rank):
    """One entry per dimension, Nones apart; None when some key is an array, a mask or the like."""
    for k in keys:
        if not (k is None or k is Ellipsis or isinstance(k, slice)) and not _is_number(k):
            return None
    given = sum(k is not None and k is not Ellipsis for k in keys)
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if given > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional, but {given} were indexed")
    at = dots[0] if dots else len(keys)
    return keys[:at] + (slice(None),) * (rank - given) + keys[at + 1 :]


def _is_number(k):
    if isinstance(k, bool) or not hasattr(k, "__index__") or getattr(k, "ndim", 0):
        return False
    return getattr(k, "dtype", None) != bool


def _one(k, extent, dimension):
    """(begin, end, step, extent of the result); step None = backwards, extent None = the dimension goes."""
    if isinstance(k, slice):
        begin, end, step = k.indices(extent)
        if step < 1:
            return 0, 0, None, None
        count = len(range(begin, end, step))
        return begin, max(begin, end), step, count
    number = operator.index(k)
    if not -extent <= number < extent:
        raise IndexError(f"index {number} is out of bounds for axis {dimension} with size {extent}")
    number %= extent
    return number, number + 1, 1, None
