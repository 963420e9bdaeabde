"""The worker's cache: results of reading files, kept between requests while the files' digests stay the same."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Concatenate, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Paths = TypeVar("_Paths", str, tuple[str, ...])
# The number of results that the cache keeps for each function.
_RESULTS = 64

_digests: Mapping[str, str] = {}


@contextlib.contextmanager
def inputs(digests: Mapping[str, str]) -> Iterator[None]:
    """Sets the digests of a request's input files, by path, during the block."""
    global _digests  # noqa: PLW0603
    _digests = digests
    try:
        yield
    finally:
        _digests = {}


def by_content(read: Callable[Concatenate[_Paths, _P], _T]) -> Callable[Concatenate[_Paths, _P], _T]:
    """Caches the results of a function of one or several paths, by the paths and the digests of the files.

    Files that are no inputs of the request are not cached. Further arguments must be hashable. Callers must not change
    the results.
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
                del results[next(iter(results))]  # Removes the oldest result.
            results[key] = read(paths, *args, **kwargs)
        return results[key]

    return remembering
