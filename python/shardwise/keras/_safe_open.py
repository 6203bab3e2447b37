"""What safetensors.safe_open gives inside a scope: lazy tensors, so that converters of keras-hub load shard by shard."""

from ._lazy import LazyTensor


class LazyFile:
    """As safetensors' safe_open(path, framework="np"): keys, tensors, slices, metadata. Reads nothing by itself."""

    def __init__(self, catalog, reader):
        self._catalog = catalog
        self._reader = reader
        self._tensors = {info.name: info for info in catalog.tensors}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None

    def keys(self) -> list[str]:
        return sorted(self._tensors)

    def offset_keys(self) -> list[str]:
        return list(self._tensors)

    def metadata(self) -> dict[str, str] | None:
        return dict(self._catalog.metadata) or None

    def get_tensor(self, name: str) -> LazyTensor:
        if name not in self._tensors:
            import safetensors

            raise safetensors.SafetensorError(f"File does not contain tensor {name}")
        return LazyTensor(self._reader, self._tensors[name])

    def get_slice(self, name: str) -> "LazySlice":
        return LazySlice(self.get_tensor(name))


class LazySlice:
    """What get_slice returns: a tensor that is indexed."""

    def __init__(self, lazy: LazyTensor):
        self._lazy = lazy

    def get_shape(self) -> list[int]:
        return list(self._lazy.shape)

    def __getitem__(self, key):
        return self._lazy[key]
