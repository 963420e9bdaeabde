"""What a worker keeps between requests: the results of reading files, for as long as the files stay the same."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Concatenate, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Paths = TypeVar("_Paths", str, tuple[str, ...])
# How many results each function keeps.
_RESULTS = 64

_digests: Mapping[str, str] = {}


@contextlib.contextmanager
def inputs(digests: Mapping[str, str]) -> Iterator[None]:
    """Names the content of files, by their paths, while the context lasts."""
    global _digests  # noqa: PLW0603
    _digests = digests
    try:
        yield
    finally:
        _digests = {}


def by_content(read: Callable[Concatenate[_Paths, _P], _T]) -> Callable[Concatenate[_Paths, _P], _T]:
    """Makes a function of a file's path, or of those of several, remember its results for the paths and their contents.

    It reads anew what is no input of the request. Further arguments must be hashable; nobody may change the results.
    """
    results: dict[object, _T] = {}

    @functools.wraps(read)
    def remembering(paths: _Paths, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        digests = [_digests.get(path) for path in ([paths] if isinstance(paths, str) else paths)]
        if not all(digests):
            return read(paths, *args, **kwargs)
        key = (paths, tuple(digests), args, tuple(kwargs.items()))
        if key not in results:
            while len(results) >= _RESULTS:
                del results[next(iter(results))]  # The oldest.
            results[key] = read(paths, *args, **kwargs)
        return results[key]

    return remembering
