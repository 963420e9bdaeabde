"""Reads a model file: runs it, calls its entry point, and checks what comes back.

README.md beside this file has the contract.
"""

from __future__ import annotations

import inspect
import site
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from codegen.suggest import did_you_mean, nearest
from export.errors import ExportError, Finding, Location

_MODULE_NAME = "executorch_model"
_CONTRACT = "(torch.nn.Module, example_inputs)"


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call of a method."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def flatten(self) -> tuple[list[Any], pytree.TreeSpec]:
        return pytree.tree_flatten((self.args, dict(self.kwargs)))


@dataclass(frozen=True)
class ModelFile:
    """A model file, and where in it something went wrong."""

    path: Path
    import_paths: tuple[Path, ...] = ()

    def is_users(self, filename: str) -> bool:
        """Whether a source file is the user's own, rather than PyTorch's or another package's."""
        path = Path(filename).absolute()
        if path == self.path.absolute():
            return True
        packages = [*site.getsitepackages(), sys.base_prefix, str(Path(torch.__file__ or "").parents[1])]
        return any(path.is_relative_to(folder.absolute()) for folder in self.import_paths) and not (
            any(path.is_relative_to(Path(folder).absolute()) for folder in packages)
            or {"site-packages", "dist-packages"} & set(path.parts)
            or path.is_relative_to(Path(__file__).absolute().parent)
        )

    def location(self, function: Callable[..., Any] | None = None) -> Location:
        """Where the function is defined; without one, the file."""
        code = getattr(inspect.unwrap(function), "__code__", None) if function else None
        if code and Path(code.co_filename) == self.path:
            return Location(str(self.path), code.co_firstlineno, 1)
        return Location(str(self.path))

    def failure(
        self, what: str, error: BaseException, *, at: Location, cause: str = "", fix: str = "", message: str = ""
    ) -> ExportError:
        """The error that `what` raised, with the user's own frames.

        Args:
            what: what was being done, e.g. `get_model()`.
            error: what it raised.
            at: the place to name if none of the user's frames took part.
            cause: the likely cause; by default that the user's code raised it.
            fix: what to do.
            message: what to say instead of the error's own text.
        """
        frames = [f for f in traceback.extract_tb(error.__traceback__) if self.is_users(f.filename)]
        if isinstance(error, SyntaxError) and error.filename:
            at = Location(error.filename, error.lineno or 0, error.offset or 0)
            details = [line.rstrip() for line in traceback.format_exception_only(error)[1:-1]]
        else:
            details = [
                line
                for f in frames
                for line in (f"{f.filename}:{f.lineno}, in {f.name}", f"    {f.line}")
                if line.strip()
            ]
            if frames:
                at = Location(frames[-1].filename, frames[-1].lineno or 0, (getattr(frames[-1], "colno", 0) or 0) + 1)
        message = message or _first_lines(str(error.args[0] if isinstance(error, SyntaxError) else error))
        return ExportError(
            Finding(
                at,
                f"{what} raised {type(error).__name__}" + (f": {message}" if message else ""),
                cause or "the model's own code is at fault, or something that it needs is not there.",
                fix or f"make `python {self.path}` and a call of its functions work by hand first.",
                tuple(details),
                id="model-raised",
            )
        )


@dataclass(frozen=True)
class Method:
    """One method of the program to be.

    Attributes:
        name: as the program will have it, e.g. `forward`.
        module: the eager module, in eval mode.
        exported: the method already exported, if the model file did that itself.
        example: the inputs to export with.
        dynamic_shapes: as torch.export takes them.
        samples: inputs to run one after another, the state of the module kept from one to the next.
        source: where it comes from.
        at: where the entry point is.
    """

    name: str
    module: torch.nn.Module
    exported: torch.export.ExportedProgram | None
    example: Inputs
    dynamic_shapes: Any
    samples: tuple[Inputs, ...]
    source: ModelFile
    at: Location


def load(path: Path, entry_point: str, import_paths: Sequence[Path] = ()) -> tuple[Method, ...]:
    """Runs a model file and returns the methods that it describes.

    Args:
        path: the Python file.
        entry_point: the name of the function in it that returns the model.
        import_paths: folders whose modules are the user's own, for errors.
    Raises:
        ExportError: the file, or what its functions return, is not as README.md says.
    """
    file = ModelFile(path, tuple(import_paths))
    module = _run(file)
    get_model = _function(file, module, entry_point)
    if get_model is None:
        raise _no_entry_point(file, module, entry_point)
    torch.manual_seed(0)
    model = _call(file, get_model)
    at = file.location(get_model)
    several = isinstance(model, dict)
    if several and not (model and all(isinstance(name, str) and name for name in model)):
        raise _nonsense(at, f"{entry_point}()", model, f"a dict of method name: {_CONTRACT}")
    models = model if several else {"forward": model}
    dynamic_shapes = _optional(file, module, "get_dynamic_shapes", models, several)
    samples = _optional(file, module, "get_sample_inputs", models, several)
    return tuple(
        _method(
            file,
            at,
            name,
            value,
            what=f"{entry_point}()" + (f"[{name!r}]" if several else ""),
            dynamic_shapes=dynamic_shapes,
            samples=samples,
        )
        for name, value in models.items()
    )


def _run(file: ModelFile) -> ModuleType:
    try:
        source = file.path.read_bytes()
    except OSError as error:
        raise ExportError(
            Finding(
                Location(str(file.path)),
                f"cannot read the model file: {error.strerror}",
                "the path is wrong, or it is no file.",
                "give the Python file that has the entry point.",
                id="unreadable-file",
            )
        ) from error
    module = ModuleType(_MODULE_NAME)
    module.__file__ = str(file.path)
    # Dataclasses, pickle and torch.export look a function's module up here.
    sys.modules[_MODULE_NAME] = module
    try:
        exec(compile(source, str(file.path), "exec"), module.__dict__)
    except (SyntaxError, ValueError) as error:
        where = "the model file" if getattr(error, "filename", None) == str(file.path) else "running the model file"
        fix = "correct the syntax." if isinstance(error, SyntaxError) else ""
        cause = "the file is not valid Python." if fix else ""
        raise file.failure(where, error, at=file.location(), cause=cause, fix=fix) from error
    except ImportError as error:
        cause = "the module is in no library that the model depends on."
        fix = "add the library to `deps` of the executorch_program (by hand: its folder with --import_path)."
        raise file.failure("running the model file", error, at=file.location(), cause=cause, fix=fix) from error
    except (Exception, SystemExit) as error:
        raise file.failure("running the model file", error, at=file.location()) from error
    return module


def _function(file: ModelFile, module: ModuleType, name: str) -> Callable[[], Any] | None:
    function = getattr(module, name, None)
    if function is None or callable(function):
        return function
    raise _nonsense(file.location(), name, function, "a function")


def _no_entry_point(file: ModelFile, module: ModuleType, entry_point: str) -> ExportError:
    functions = [n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == _MODULE_NAME]
    found = f"functions found: {', '.join(functions)}" if functions else "the file defines no function"
    return ExportError(
        Finding(
            file.location(),
            f"no function {entry_point}(); {found}{did_you_mean(nearest(entry_point, functions))}",
            "the function has another name, or this is not the model file.",
            f"define `def {entry_point}():` that returns {_CONTRACT}, or name your function with `entry_point`.",
            id="no-entry-point",
        )
    )


def _call(file: ModelFile, function: Callable[[], Any]) -> Any:
    name = getattr(function, "__name__", repr(function))
    try:
        return function()
    except (Exception, SystemExit) as error:
        raise file.failure(f"{name}()", error, at=file.location(function)) from error


def _optional(
    file: ModelFile, module: ModuleType, name: str, models: Mapping[str, Any], several: bool
) -> Mapping[str, Any]:
    """What an optional function returns, for each method that it speaks of."""
    function = _function(file, module, name)
    if function is None:
        return {}
    value = _call(file, function)
    if not several:
        return {"forward": value}
    unknown = [key for key in value if key not in models] if isinstance(value, dict) else []
    if unknown or not isinstance(value, dict):
        raise _nonsense(file.location(function), f"{name}()", value, f"a dict with keys out of {', '.join(models)}")
    return value


def _method(
    file: ModelFile,
    at: Location,
    name: str,
    value: Any,
    *,
    what: str,
    dynamic_shapes: Mapping[str, Any],
    samples: Mapping[str, Any],
) -> Method:
    module: torch.nn.Module
    if isinstance(value, torch.export.ExportedProgram):
        if value.example_inputs is None:
            raise _nonsense(at, what, "an ExportedProgram without example inputs", "one that torch.export.export made")
        if name in dynamic_shapes:
            raise _nonsense(at, what, value, f"{_CONTRACT}, as get_dynamic_shapes() names {name}")
        args, kwargs = value.example_inputs
        exported, module, example = value, value.module(), Inputs(args, kwargs)
    else:
        if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], torch.nn.Module)):
            raise _nonsense(at, what, value, f"{_CONTRACT}, or a torch.export.ExportedProgram")
        example = _inputs(at, f"example inputs of {what}", value[1])
        exported, module = None, value[0].eval()
    runs = samples.get(name, [value[1]] if exported is None else None)
    if runs is None:
        parsed = [example]
    elif isinstance(runs, list) and runs:
        fixed = exported is None and name not in dynamic_shapes
        parsed = [_sample(at, f"get_sample_inputs()[{i}]", run, example, fixed=fixed) for i, run in enumerate(runs)]
    else:
        raise _nonsense(at, "get_sample_inputs()", runs, "a list of inputs, one for each run")
    return Method(name, module, exported, example, dynamic_shapes.get(name), tuple(parsed), file, at)


def _inputs(at: Location, what: str, value: Any) -> Inputs:
    if isinstance(value, tuple):
        return Inputs(value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return Inputs((), value)
    hint = " (a tuple of one is written `(x,)`)" if isinstance(value, torch.Tensor) else ""
    raise _nonsense(at, what, value, f"a tuple of arguments{hint}, or a dict of keyword arguments")


def _sample(at: Location, what: str, value: Any, example: Inputs, *, fixed: bool) -> Inputs:
    """One element of get_sample_inputs(): like the example, and if `fixed` with its shapes and numbers, too."""
    inputs = _inputs(at, what, value)
    if inputs.kwargs.keys() == example.kwargs.keys():
        inputs = Inputs(inputs.args, {key: inputs.kwargs[key] for key in example.kwargs})
    leaves, spec = inputs.flatten()
    example_leaves, example_spec = example.flatten()
    if spec != example_spec:
        raise _nonsense(at, what, value, f"inputs like the example's, {describe(example.args or dict(example.kwargs))}")
    for index, (leaf, like) in enumerate(zip(leaves, example_leaves, strict=True)):
        alike = type(leaf) is type(like) or (isinstance(leaf, torch.Tensor) and isinstance(like, torch.Tensor))
        if alike and isinstance(leaf, torch.Tensor):
            alike = leaf.dtype == like.dtype and leaf.dim() == like.dim() and (not fixed or leaf.shape == like.shape)
        elif alike and fixed:
            alike = leaf == like
        if not alike:
            hint = "; other sizes need get_dynamic_shapes()" if fixed else ""
            raise _nonsense(at, f"{what}, input {index},", leaf, f"as in the example {describe(like)}{hint}")
    return inputs


def _nonsense(at: Location, what: str, found: Any, expected: str) -> ExportError:
    return ExportError(
        Finding(
            at,
            f"{what} is {found if isinstance(found, str) else describe(found)}; expected {expected}",
            "the function returns something else than the contract of a model file says.",
            f"return {expected}.",
            id="wrong-model",
        )
    )


def describe(value: Any, depth: int = 2) -> str:
    """A value in a few words: types, shapes and dtypes rather than data."""
    if isinstance(value, torch.Tensor):
        return f"Tensor {str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    if isinstance(value, type):
        return f"the class {value.__name__} (not an instance)"
    if isinstance(value, (tuple, list, dict)) and value and depth:
        if isinstance(value, dict):
            items = [f"{key!r}: {describe(item, depth - 1)}" for key, item in value.items()]
        else:
            items = [describe(item, depth - 1) for item in value]
        return f"{type(value).__name__} of {len(value)} ({', '.join([*items[:6], *['...'] * (len(items) > 6)])})"
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, dict)):
        return _first_lines(repr(value))
    return f"an instance of {type(value).__name__}" if callable(value) else f"a {type(value).__name__}"


def _first_lines(text: str, lines: int = 6, characters: int = 600) -> str:
    kept = text.strip().splitlines()[:lines]
    return "\n    ".join(kept)[:characters]
