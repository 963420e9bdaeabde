"""What a worker keeps between requests: the results of reading files, for as long as the files stay the same."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Concatenate, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
# How many files' results each function keeps.
_FILES = 256

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


def by_content(read: Callable[Concatenate[str, _P], _T]) -> Callable[Concatenate[str, _P], _T]:
    """Makes a function of a file's path, and of further hashable arguments, remember its results for the path and the
    content, if that has a name.

    The results are shared, so nobody may change them.
    """
    results: dict[object, _T] = {}

    @functools.wraps(read)
    def remembering(path: str, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        digest = _digests.get(path)
        if not digest:
            return read(path, *args, **kwargs)
        key = (path, digest, args, tuple(kwargs.items()))
        if key not in results:
            while len(results) >= _FILES:
                del results[next(iter(results))]  # The oldest.
            results[key] = read(path, *args, **kwargs)
        return results[key]

    return remembering
