"""A patch: functions of ExecuTorch or PyTorch that an export replaces, and the check that they are the known ones."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import linecache
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

from diagnostics.errors import Finding, InputError

_PACKAGES = ("executorch", "torch", "torchao")
_DEFINITION = re.compile(r"( *)(?:async def|def|class) (\w+)")
# The indentation of the patched packages.
_INDENTATION = 4
# For each running export, the patches that met sources they do not know.
_met: list[dict[str, Patch]] = []


@dataclass(frozen=True)
class Patch:
    """A patch of ExecuTorch's or PyTorch's insides.

    Attributes:
        name: the name of the patch, that of its file.
        known: the functions and classes on whose source the patch relies, as `module:Class.function`. Each has the
            fingerprints of its source by the versions of its package with which the patch was tried.
        without: the consequence if the patch is left out, as the end of a sentence.
        is_needed: whether the export needs the patch. If so, the patch is applied to an unknown source, too. If not,
            the patch is left out.
    """

    name: str
    known: Mapping[str, Mapping[str, str]]
    without: str
    is_needed: bool = False

    @functools.cached_property
    def unknown(self) -> tuple[str, ...]:
        """The functions and classes whose source is gone or not a known one."""
        return tuple(name for name, known in self.known.items() if fingerprint(name) not in known.values())

    def is_applied(self) -> bool:
        """Returns whether the patch may be applied here. Notes the patch for the warning of `noted()` if it is unknown.

        Raises:
            InputError: the export needs the patch, and a patched function is gone.
        """
        if not self.unknown:
            return True
        for met in _met:
            met[self.name] = self
        if self.is_needed and any(fingerprint(name) is None for name in self.unknown):
            raise InputError(finding([self], _installed(), is_error=True))
        return self.is_needed

    @contextlib.contextmanager
    def applied(self, owner: Any, /, **attributes: Any) -> Iterator[None]:
        """Replaces attributes of a module or a class during the block, if the patch may be applied."""
        if not self.is_applied():
            yield
            return
        with mock.patch.multiple(owner, create=True, **attributes):
            yield

    @contextlib.contextmanager
    def wrapped(self, owner: Any, name: str, wrapper: Callable[..., Any]) -> Iterator[None]:
        """Calls `wrapper` in place of a function of a module or a class during the block, if the patch may be applied.

        The wrapper gets the function, and then the arguments of the call.
        """
        if not self.is_applied():
            yield
            return
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            return wrapper(original, *args, **kwargs)

        with self.applied(owner, **{name: call}):
            yield


@contextlib.contextmanager
def noted() -> Iterator[Mapping[str, Patch]]:
    """Collects the patches, by name, that meet an unknown source during the block."""
    met: dict[str, Patch] = {}
    _met.append(met)
    try:
        yield met
    finally:
        _met.remove(met)


def warnings(met: Mapping[str, Patch]) -> tuple[Finding, ...]:
    """Returns a warning that names the patches that met an unknown source; nothing if there are none."""
    return (finding([*met.values()], _installed()),) if met else ()


def fingerprint(name: str) -> str | None:
    """Returns the fingerprint of the source of a function or class; None if there is no source.

    The fingerprint is that of the text, without comments, blank lines and decorators. Python's parser would leave out
    the layout, too, but takes 0.3 s for the files of all patches.
    """
    text = source(name)
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else None


def source(name: str) -> str:
    """Returns the text of a function or class, `module:Class.function`; empty if there is none."""
    module, _, path = name.partition(":")
    lines, definitions = _definitions(module)
    # Several functions may have the name.
    return "".join(line for number in definitions.get(path, ()) for line in _block(lines[number:]))


@functools.cache
def _definitions(module: str) -> tuple[Sequence[str], Mapping[str, Sequence[int]]]:
    """Returns the lines of a module, and the numbers of the lines with which its functions and classes begin."""
    try:
        lines = linecache.getlines(importlib.import_module(module).__file__ or "")
    except ImportError:
        return (), {}
    definitions: dict[str, list[int]] = defaultdict(list)
    around: list[str] = []  # The definitions around a line, from the outermost.
    for number, line in enumerate(lines):
        definition = _DEFINITION.match(line)
        if definition:
            around[len(definition[1]) // _INDENTATION :] = [definition[2]]
            definitions[".".join(around)].append(number)
    return lines, definitions


def _block(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines of the definition with which the lines begin, without comments and blank lines."""
    yield lines[0]
    for line in lines[1:]:
        code = line.lstrip()
        # A bracket ends the parameters of a function.
        if code and code[0] not in "#)]}" and _indentation(line) <= _indentation(lines[0]):
            break
        if code and code[0] != "#":
            yield line


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _installed() -> dict[str, str]:
    """Returns the versions of the packages that have patches."""
    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


def finding(patches: Sequence[Patch], installed: Mapping[str, str], *, is_error: bool = False) -> Finding:
    """Returns the finding about patches that met an unknown source.

    Args:
        patches: the patches.
        installed: the installed versions of the patched packages.
        is_error: whether a patch that the export needs cannot be applied.
    """
    return Finding(
        ", ".join(f"{package} {version}" for package, version in installed.items()),
        f"rules_executorch has {len(patches)} {'patch' if len(patches) == 1 else 'patches'} for other versions",
        "the lock has a newer or older ExecuTorch or PyTorch than those with which these rules were tried.",
        "lock versions of the table in docs/workspace.md, or take rules_executorch for the locked ones;"
        " docs/new_executorch.md tells how to try a version.",
        tuple(f"{one.name}: {_consequence(one, is_error=is_error)}; {_sources(one)}" for one in patches),
        id="unknown-internals",
        severity="error" if is_error else "warning",
    )


def _consequence(patch: Patch, *, is_error: bool) -> str:
    if is_error:
        return f"cannot be applied, so {patch.without}"
    return "applied all the same" if patch.is_needed else f"left out, so {patch.without}"


def _sources(patch: Patch) -> str:
    """Returns what the unknown sources of a patch are."""
    return "; ".join(
        f"{name} is gone"
        if fingerprint(name) is None
        else f"{name} is not that of {re.split('[.:]', name)[0]} {' or '.join(patch.known[name])}"
        for name in patch.unknown
    )
