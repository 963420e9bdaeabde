"""Runs a Python file of the user, calls its functions, and locates errors in the user's code."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import site
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from diagnostics import derived_operator
from diagnostics.errors import Finding, InputError, Location
from diagnostics.suggest import did_you_mean, nearest, nearest_operators
from export.user.dense_tensors import dense

# Folders of these rules. Frames in these folders do not count as the user's.
_TOOLS = tuple(
    Path(__file__).absolute().parents[2] / tool for tool in ("codegen", "diagnostics", "export", "torch_ops")
)

# The message for an unknown torch.ops.<namespace>.<name>.
_UNKNOWN_OPERATOR = re.compile(r"'_OpNamespace' '(\w+)' object has no attribute '(\w+)'")

# The largest number of frames in an error, and of characters in a line.
_MAX_FRAMES = 20
_MAX_LINE = 200

# A file of an installed package.
_IN_PACKAGE = re.compile(r".*/(?:site|dist)-packages/([^/]+)")
# What does not count as the place of an error in a package: files of no package, PyTorch, and what PyTorch calls.
_NO_PACKAGES = frozenset(["", "executorch", "functorch", "mpmath", "numpy", "sympy", "torch", "torchao", "torchgen"])

# A frame of a stack trace.
_FRAME = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.M)


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def flatten(self) -> tuple[list[Any], pytree.TreeSpec]:
        return pytree.tree_flatten((self.args, dict(self.kwargs)))

    def separate(self) -> Inputs:
        """Returns the arguments with a dense copy of each tensor, as inputs of a program are."""
        leaves, spec = self.flatten()
        copies = [dense(leaf.detach().clone()) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        return Inputs(*pytree.tree_unflatten(copies, spec))

    def shown(self) -> str:
        """Describes the arguments in a few words, in the form of a call."""
        arguments = [describe(value) for value in self.args]
        return f"({', '.join([*arguments, *(f'{key}={describe(value)}' for key, value in self.kwargs.items())])})"


@dataclass(frozen=True)
class UserFile:
    """A Python file of the user.

    Attributes:
        path: the file.
        import_paths: folders of the user's own modules, for error messages.
        kind: the kind of file in error messages, e.g. `model` for a model file.
        rule: the rule of the file. The file's imports come from the rule's `deps`.
    """

    path: Path
    import_paths: tuple[Path, ...] = ()
    _: KW_ONLY
    kind: str
    rule: str

    def run(self) -> ModuleType:
        """Runs the file.

        Raises:
            InputError: the file cannot be read, has a syntax error, or raised.
        """
        try:
            source = self.path.read_bytes()
        except OSError as error:
            raise InputError(
                Finding(
                    Location(str(self.path)),
                    f"cannot read the {self.kind} file: {error.strerror}",
                    "the path is wrong, or is not a file.",
                    "give the Python file that has the entry point.",
                    id="unreadable-file",
                )
            ) from error
        module = ModuleType(f"executorch_{self.kind}")
        module.__file__ = str(self.path)
        # Dataclasses, pickle and torch.export look up the module of a function in sys.modules.
        sys.modules[module.__name__] = module
        running = f"running the {self.kind} file"
        try:
            exec(compile(source, str(self.path), "exec"), module.__dict__)
        except (SyntaxError, ValueError) as error:
            what = f"the {self.kind} file" if getattr(error, "filename", None) == str(self.path) else running
            fix = "correct the syntax." if isinstance(error, SyntaxError) else ""
            cause = "the file is not valid Python." if fix else ""
            raise self.failure(what, error, at=self.location(), cause=cause, fix=fix) from error
        except BaseException as error:
            raise self.failure(running, error, at=self.location()) from error
        return module

    def function(self, module: ModuleType, name: str) -> Callable[[], Any] | None:
        """Returns the function of a name; None if the file does not define the function."""
        function = getattr(module, name, None)
        if function is None or callable(function):
            return function
        raise self.nonsense(self.location(), name, function, "a function")

    def entry_point(self, module: ModuleType, name: str, returns: str) -> Callable[[], Any]:
        """Returns the function of a name, which is required.

        Args:
            module: the module that `run` returned.
            name: the function's name.
            returns: the required result of the function, for error messages.
        Raises:
            InputError: the file does not define the function.
        """
        function = self.function(module, name)
        if function is not None:
            return function
        functions = [n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__]
        found = f"functions found: {', '.join(functions)}" if functions else "the file defines no function"
        raise InputError(
            Finding(
                self.location(),
                f"no function {name}(); {found}{did_you_mean(nearest(name, functions))}",
                f"the function has another name, or this is not the {self.kind} file.",
                f"define `def {name}():` that returns {returns}, or name your function with `entry_point`.",
                id="no-entry-point",
            )
        )

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function of the file. Returns its result."""
        name = str(getattr(function, "__name__", "") or describe(function))[:_MAX_LINE]
        try:
            return function(*arguments)
        except BaseException as error:
            raise self.failure(f"{name}()", error, at=self.location(function)) from error

    def location(self, function: Callable[..., Any] | None = None) -> Location:
        """Returns the location of a function in the file; the file's location without a function."""
        code = getattr(inspect.unwrap(function), "__code__", None) if function else None
        if code and Path(code.co_filename) == self.path:
            return Location(str(self.path), code.co_firstlineno, 1)
        return Location(str(self.path))

    def is_users(self, filename: str) -> bool:
        """Returns whether a source file is the user's own, and not a file of PyTorch or another package."""
        if filename.startswith("<"):  # No file: PyTorch compiled the code from a string.
            return False
        path = Path(filename).absolute()
        if path == self.path.absolute():
            return True
        packages = [*site.getsitepackages(), sys.base_prefix, str(Path(torch.__file__ or "").parents[1])]
        return any(path.is_relative_to(folder.absolute()) for folder in self.import_paths) and not (
            any(path.is_relative_to(Path(folder).absolute()) for folder in packages)
            or {"site-packages", "dist-packages"} & set(path.parts)
            or any(path.is_relative_to(tool) for tool in _TOOLS)
        )

    def frames(self, error: BaseException) -> tuple[Location | None, tuple[str, ...]]:
        """Returns the location of the innermost of the user's frames in a traceback, and frames as text.

        The text has all frames of the user, and after these the innermost frame of another package than PyTorch.
        """
        return self._own([*traceback.extract_tb(error.__traceback__)])

    def frames_of_text(self, stack_trace: str) -> tuple[Location | None, tuple[str, ...]]:
        """The same as `frames` for a stack trace as text, as in the metadata of a node."""
        return self._own(
            [
                traceback.FrameSummary(match[1], int(match[2]), match[3], lookup_line=True)
                for match in _FRAME.finditer(stack_trace)
            ]
        )

    def _own(self, stack: Sequence[traceback.FrameSummary]) -> tuple[Location | None, tuple[str, ...]]:
        own = [index for index, frame in enumerate(stack) if self.is_users(frame.filename)]
        behind = stack[own[-1] + 1 if own else 0 :]
        in_package = [frame for frame in behind if _package(frame.filename) not in _NO_PACKAGES][-1:]
        shown = [stack[index] for index in own[-_MAX_FRAMES:]]
        places = [
            (f"{_shown(frame.filename)}:{frame.lineno}, in {frame.name}", (frame.line or "")[:_MAX_LINE])
            for frame in (*shown, *in_package)
        ]
        lines = [line for place, code in places for line in (place, f"    {code}")]
        if len(own) > len(shown):
            lines.insert(0, f"... {len(own) - len(shown)} calls before")
        details = tuple(line for line in lines if line.strip())
        if not own:
            return None, details
        last = stack[own[-1]]
        at = Location(_shown(last.filename), last.lineno or 0, (getattr(last, "colno", 0) or 0) + 1)
        return at, details

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
        if isinstance(error, SyntaxError) and error.filename:
            at = Location(error.filename, error.lineno or 0, error.offset or 0)
            details = tuple(line.rstrip() for line in traceback.format_exception_only(error)[1:-1])
        else:
            innermost, frames = self.frames(error)
            at, details = innermost or at, frames or details
        if derived := derived_operator.refused(text_of(error)):
            return InputError(derived_operator.finding(at, derived[0], what, derived[1], details))
        if unknown := _UNKNOWN_OPERATOR.search(text_of(error)):
            return self._unknown_operator(what, "::".join(unknown.groups()), at, details)
        if isinstance(error, ImportError):
            cause = f"the module is in no library that the {self.kind} file depends on, or its package is in no lock."
            package = (error.name or "<package>").partition(".")[0]
            fix = (
                f"add the library to `deps` of the {self.rule} (by hand: its folder with --import_path); of a package,"
                f" @executorch_python//:{package}, for which executorch.python(requirements = ...) takes a lock."
            )
        message = message or first_lines(text_of(error))
        return InputError(
            Finding(
                at,
                f"{what} raised {type(error).__name__}" + (f": {message}" if message else ""),
                cause or f"the {self.kind} file's own code is at fault, or something that it needs is not there.",
                fix or f"check that `python {self.path}` and calls of its functions work without Bazel.",
                details,
                id="user-code-raised",
            )
        )

    def _unknown_operator(self, what: str, name: str, at: Location, details: tuple[str, ...]) -> InputError:
        near = nearest_operators(name, torch._C._dispatch_get_all_op_names())
        return InputError(
            Finding(
                at,
                f"{what} calls {name}, an operator that is not registered{did_you_mean(near)}",
                f"a typo, or no module that the {self.kind} file imports loads the library with the operator.",
                "import the module that registers the operator, and add its library to `deps` of the"
                f" {self.rule} (for a torch_op_library, the companion py_library).",
                details,
                id="unknown-torch-operator",
            )
        )

    def inputs(self, at: Location, what: str, value: Any) -> Inputs:
        """Returns the arguments that a function returned: a tuple, or a dict of keyword arguments.

        Raises:
            InputError: the function returned something else.
        """
        if isinstance(value, tuple):
            return Inputs(value)
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return Inputs((), value)
        hint = " (a tuple of one is written `(x,)`)" if isinstance(value, torch.Tensor) else ""
        raise self.nonsense(at, what, value, f"a tuple of arguments{hint}, or a dict of keyword arguments")

    def nonsense(self, at: Location, what: str, found: Any, expected: str) -> InputError:
        """Returns the error for a function whose result does not match the contract of the file."""
        return InputError(
            Finding(
                at,
                f"{what} is {found if isinstance(found, str) else describe(found)}; expected {expected}",
                f"the function does not follow the contract of a {self.kind} file.",
                f"return {expected}.",
                id="wrong-return-value",
            )
        )


def text_of(error: BaseException) -> str:
    """Returns an exception's message, without the place that a SyntaxError adds, which `failure` reports."""
    try:
        return str(error.args[0] if isinstance(error, SyntaxError) and error.args else error)
    except BaseException as failed:
        return f"(its text cannot be made: {type(failed).__name__})"


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


def first_lines(text: str, lines: int = 6, characters: int = 600) -> str:
    """Returns the first lines of a text, indented for an error message."""
    kept = text.strip().splitlines()[:lines]
    return "\n    ".join(kept)[:characters]


def _package(filename: str) -> str:
    """Returns the name of the installed package that has a file; empty for other files."""
    match = _IN_PACKAGE.match(filename)
    return match[1].removesuffix(".py") if match else ""


def _shown(filename: str) -> str:
    """Returns a file's path for error messages.

    The path of a package's file begins with the package. Other paths are relative to the working directory if the file
    is below it.
    """
    if match := _IN_PACKAGE.match(filename):
        return filename[match.start(1) :]
    path = Path(os.path.relpath(filename))
    return filename if ".." in path.parts else str(path)
