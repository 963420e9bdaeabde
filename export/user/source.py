"""Words the errors about the user's code."""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch

from diagnostics import derived_operator
from diagnostics.errors import InputError, Location
from diagnostics.suggest import did_you_mean, nearest_operators
from export.user.frames import Code
from export.user.messages import first_lines, text_of

# The message for an unknown torch.ops.<namespace>.<name>.
_UNKNOWN_OPERATOR = re.compile(r"'_OpNamespace' '(\w+)' object has no attribute '(\w+)'")

# The largest number of characters in the name of a function.
_MAX_NAME = 200


@dataclass(frozen=True)
class Source(Code):
    """A Python file of the user, as errors name it.

    Attributes:
        kind: the kind of file, e.g. `model` for a model file.
        rule: the rule of the file. The file's imports come from the rule's `deps`.
    """

    _: KW_ONLY
    kind: str
    rule: str

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function of the file. Returns its result."""
        name = str(getattr(function, "__name__", "") or describe(function))[:_MAX_NAME]
        try:
            return function(*arguments)
        except BaseException as error:
            raise self.failure(f"{name}()", error, at=self.location(function)) from error

    def failure(
        self,
        what: str,
        error: BaseException,
        *,
        at: Location,
        cause: str = "",
        fix: str = "",
        message: str = "",
        details: tuple[str, ...] = (),
    ) -> InputError:
        """Returns the error for an exception, with the user's own frames.

        Args:
            what: the step that raised, e.g. `get_model()`.
            error: the exception.
            at: the location if the traceback has no frame of the user.
            cause: the likely cause. Default: the user's code raised the exception.
            fix: the fix.
            message: a message in place of the exception's text.
            details: the lines to show if the traceback has no frame of the user.
        """
        text = text_of(error)
        if isinstance(error, SyntaxError) and error.filename:
            at = Location(error.filename, error.lineno or 0, error.offset or 0)
            details = tuple(line.rstrip() for line in traceback.format_exception_only(error)[1:-1])
        else:
            innermost, frames = self.frames(error)
            at, details = innermost or at, frames or details
        if derived := derived_operator.refused(text):
            return InputError(derived_operator.finding(at, derived[0], what, derived[1], details))
        if unknown := _UNKNOWN_OPERATOR.search(text):
            return self._unknown_operator(what, "::".join(unknown.groups()), at, details)
        if isinstance(error, ImportError) and "cannot import name" in text:
            cause = "the locked version of the package has no such name, or modules import one another in a circle."
            fix = "use a name of this version, or lock the version that has the name."
            message = message or first_lines(text).partition(" (/")[0]
        elif isinstance(error, ImportError):
            cause = f"the module is in no library that the {self.kind} file depends on, or its package is in no lock."
            package = (error.name or "<package>").partition(".")[0]
            fix = (
                f"add the library to `deps` of the {self.rule} (by hand: its folder with --import_path); of a package,"
                f" @executorch_python//:{package}, for which executorch.python(requirements = ...) takes a lock."
            )
        message = message or first_lines(text)
        return InputError.of(
            at,
            f"{what} raised {type(error).__name__}" + (f": {message}" if message else ""),
            cause or f"the {self.kind} file's own code is at fault, or something that it needs is not there.",
            fix or f"check that `python {self.path}` and calls of its functions work without Bazel.",
            details,
            id="user-code-raised",
        )

    def _unknown_operator(self, what: str, name: str, at: Location, details: tuple[str, ...]) -> InputError:
        near = nearest_operators(name, torch._C._dispatch_get_all_op_names())
        return InputError.of(
            at,
            f"{what} calls {name}, an operator that is not registered{did_you_mean(near)}",
            f"a typo, or no module that the {self.kind} file imports loads the library with the operator.",
            "import the module that registers the operator, and add its library to `deps` of the"
            f" {self.rule} (for a torch_op_library, the companion py_library).",
            details,
            id="unknown-torch-operator",
        )

    def nonsense(self, at: Location, what: str, found: Any, expected: str) -> InputError:
        """Returns the error for a function whose result does not match the contract of the file."""
        return InputError.of(
            at,
            f"{what} is {found if isinstance(found, str) else describe(found)}; expected {expected}",
            f"the function does not follow the contract of a {self.kind} file.",
            f"return {expected}.",
            id="wrong-return-value",
        )


def describe(value: Any, depth: int = 2) -> str:
    """Describes a value in a few words: types, shapes and dtypes, not data."""
    if isinstance(value, torch.Tensor):
        return f"Tensor {str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    if isinstance(value, type):
        return f"the class {value.__name__} (not an instance)"
    if isinstance(value, (tuple, list, dict)) and value and depth:
        if isinstance(value, dict):
            items = [f"{describe(key)}: {describe(item, depth - 1)}" for key, item in value.items()]
        else:
            items = [describe(item, depth - 1) for item in value]
        return f"{type(value).__name__} of {len(value)} ({', '.join([*items[:6], *['...'] * (len(items) > 6)])})"
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, dict)):
        with contextlib.suppress(BaseException):  # A subclass may raise.
            return first_lines(repr(value))
    return f"an instance of {type(value).__name__}" if callable(value) else f"a {type(value).__name__}"
