"""Runs a Python file of the user."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from diagnostics.errors import InputError, Location
from diagnostics.suggest import did_you_mean, nearest
from export.user.source import Source


@dataclass(frozen=True)
class UserFile:
    """A Python file of the user after its run.

    Attributes:
        source: the file.
        content: the file's module.
    """

    source: Source
    content: ModuleType

    def function(self, name: str) -> Callable[[], Any] | None:
        """Returns the function of a name; None if the file does not define the function."""
        function = getattr(self.content, name, None)
        if function is None or callable(function):
            return function
        raise self.source.nonsense(self.source.location(), name, function, "a function")

    def entry_point(self, name: str, returns: str) -> Callable[[], Any]:
        """Returns the function of a name, which is required. `returns` is its required result, for error messages.

        Raises:
            InputError: the file does not define the function.
        """
        function = self.function(name)
        if function is not None:
            return function
        own = self.content.__name__
        functions = [n for n, v in vars(self.content).items() if inspect.isfunction(v) and v.__module__ == own]
        found = f"functions found: {', '.join(functions)}" if functions else "the file defines no function"
        raise InputError.of(
            self.source.location(),
            f"no function {name}(); {found}{did_you_mean(nearest(name, functions))}",
            f"the function has another name, or this is not the {self.source.kind} file.",
            f"define `def {name}():` that returns {returns}, or name your function with `entry_point`.",
            id="no-entry-point",
        )


def run(source: Source) -> UserFile:
    """Runs a file.

    Raises:
        InputError: the file cannot be read, has a syntax error, or raised.
    """
    path = str(source.path)
    try:
        text = source.path.read_bytes()
    except OSError as error:
        raise InputError.of(
            Location(path),
            f"cannot read the {source.kind} file: {error.strerror}",
            "the path is wrong, or is not a file.",
            "give the Python file that has the entry point.",
            id="unreadable-file",
        ) from error
    module = ModuleType(f"executorch_{source.kind}")
    module.__file__ = path
    # Dataclasses, pickle and torch.export look up the module of a function in sys.modules.
    sys.modules[module.__name__] = module
    what, cause, fix = f"running the {source.kind} file", "", ""
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except BaseException as error:
        if isinstance(error, SyntaxError):
            cause, fix = "the file is not valid Python.", "correct the syntax."
            what = what.removeprefix("running ") if error.filename == path else what
        raise source.failure(what, error, at=source.location(), cause=cause, fix=fix) from error
    return UserFile(source, module)
