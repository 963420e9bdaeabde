"""Reads a model file: runs the file, calls the entry point, and checks the result.

export/README.md has the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from diagnostics.errors import Finding, InputError, Location
from export.user.user_file import Inputs, UserFile, describe

_CONTRACT = "(torch.nn.Module, example_inputs)"


@dataclass(frozen=True)
class Method:
    """One method of the program.

    Attributes:
        name: the name in the program, e.g. `forward`.
        module: the eager module, in eval mode.
        exported: the exported program, if the model file returned one; otherwise None.
        example: the example inputs of the export.
        dynamic_shapes: the `dynamic_shapes` of torch.export.
        samples: inputs to run one after another. The module keeps its state between the runs.
        source: the model file.
        at: the location of the entry point.
    """

    name: str
    module: torch.nn.Module
    exported: torch.export.ExportedProgram | None
    example: Inputs
    dynamic_shapes: Any
    samples: tuple[Inputs, ...]
    source: UserFile
    at: Location


@dataclass(frozen=True)
class ModelFile:
    """A model file after its run.

    Attributes:
        source: the file.
        content: the file's module.
        methods: the methods that the entry point returned.
        several: whether the entry point returned a dict of methods. The optional functions then return dicts, too.
    """

    source: UserFile
    content: ModuleType
    methods: tuple[Method, ...]
    several: bool

    def function(self, name: str) -> Callable[[], Any] | None:
        """Returns an optional function of the file; None if the file does not define the function."""
        return self.source.function(self.content, name)

    def location(self, name: str) -> Location:
        """Returns the location of one of the file's functions."""
        return self.source.location(self.function(name))

    def optional(self, name: str) -> Mapping[str, Any]:
        """Calls an optional function. Returns the values of the methods that the function has values for."""
        names = [method.name for method in self.methods]
        return _optional(self.source, self.content, name, names, self.several)

    def named(self, function: str, method: str) -> str:
        """Returns the name of a function's value for a method, for error messages."""
        return _named(function, method, self.several)


def load(path: Path, entry_point: str, import_paths: Sequence[Path], *, rule: str) -> ModelFile:
    """Runs a model file and reads the methods that it describes.

    Args:
        path: the Python file.
        entry_point: the name of the function in the file that returns the model.
        import_paths: folders of the user's own modules, for error messages.
        rule: the rule of the model, for error messages.
    Raises:
        InputError: the file, or the result of one of its functions, does not match README.md.
    """
    file = UserFile(path, tuple(import_paths), kind="model", rule=rule)
    module = file.run()
    get_model = file.entry_point(module, entry_point, _CONTRACT)
    torch.manual_seed(0)
    model = file.call(get_model)
    at = file.location(get_model)
    several = isinstance(model, dict)
    if several and not (model and all(isinstance(name, str) and name for name in model)):
        raise file.nonsense(at, f"{entry_point}()", model, f"a dict of method name: {_CONTRACT}")
    models = model if several else {"forward": model}
    dynamic_shapes = _optional(file, module, "get_dynamic_shapes", models, several)
    samples = _optional(file, module, "get_sample_inputs", models, several)
    methods = tuple(
        _method(
            file,
            at,
            name,
            value,
            what=_named(entry_point, name, several),
            dynamic_shapes=dynamic_shapes,
            samples=samples,
        )
        for name, value in models.items()
    )
    return ModelFile(file, module, methods, several)


def _optional(
    file: UserFile, module: ModuleType, name: str, methods: Collection[str], several: bool
) -> Mapping[str, Any]:
    """Calls an optional function. Returns the values of the methods that the function has values for."""
    function = file.function(module, name)
    if function is None:
        return {}
    value = file.call(function)
    if not several:
        return {"forward": value}
    unknown = [key for key in value if key not in methods] if isinstance(value, dict) else []
    if unknown or not isinstance(value, dict):
        raise file.nonsense(
            file.location(function), f"{name}()", value, f"a dict with keys out of {', '.join(methods)}"
        )
    return value


def _named(function: str, method: str, several: bool) -> str:
    return f"{function}()" + (f"[{method!r}]" if several else "")


def _method(
    file: UserFile,
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
            raise file.nonsense(
                at, what, "an ExportedProgram without example inputs", "one that torch.export.export made"
            )
        if name in dynamic_shapes:
            raise file.nonsense(at, what, value, f"{_CONTRACT}, as get_dynamic_shapes() names {name}")
        args, kwargs = value.example_inputs
        exported, module, example = value, value.module(), Inputs(args, kwargs)
    else:
        if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], torch.nn.Module)):
            raise file.nonsense(at, what, value, f"{_CONTRACT}, or a torch.export.ExportedProgram")
        if isinstance(value[0], torch.jit.ScriptModule):
            raise InputError(
                Finding(
                    at,
                    f"the module of {what} is TorchScript",
                    "torch.jit.load, torch.jit.script or torch.jit.trace made the module. torch.export does not take"
                    " TorchScript.",
                    "make the module from its Python class, and load the weights:"
                    " module.load_state_dict(scripted.state_dict()).",
                    id="wrong-return-value",
                )
            )
        example = file.inputs(at, f"example inputs of {what}", value[1])
        if cycle := _cycle(value[0], type(value[0]).__name__, {}, set()):
            raise InputError(
                Finding(
                    at,
                    f"the module of {what} contains itself: {cycle[0]} is {cycle[1]}",
                    "PyTorch makes a submodule of each module in an attribute. No submodule may contain its parent.",
                    "keep the reference in a tuple, which PyTorch does not search: self.parent = (parent,).",
                    id="wrong-return-value",
                )
            )
        exported, module = None, value[0].eval()
    method = Method(name, module, exported, example, dynamic_shapes.get(name), (), file, at)
    if name not in samples:
        return replace(method, samples=(example,))
    return replace(method, samples=runs(file, at, "get_sample_inputs()", samples[name], method))


def _cycle(
    module: torch.nn.Module, name: str, above: Mapping[torch.nn.Module, str], seen: set[torch.nn.Module]
) -> tuple[str, str] | None:
    """Finds a submodule that is one of its own parents. Returns the names of the submodule and of the parent."""
    seen.add(module)
    above = {**above, module: name}
    for attribute, part in module.named_children():
        if part in above:
            return f"{name}.{attribute}", above[part]
        if part not in seen and (found := _cycle(part, f"{name}.{attribute}", above, seen)):
            return found
    return None


def runs(file: UserFile, at: Location, what: str, value: Any, method: Method) -> tuple[Inputs, ...]:
    """Checks a list of inputs that a function returned, one element for each run of a method.

    Args:
        file: the model file.
        at: the location of the function.
        what: the name of the list, for error messages.
        value: the list.
        method: the method. The inputs of each run must have the structure and the dtypes of the example.
    """
    if not (isinstance(value, list) and value):
        raise file.nonsense(at, what, value, "a list of inputs, one for each run")
    fixed = method.exported is None and method.dynamic_shapes is None
    return tuple(_like(file, at, f"{what}[{i}]", run, method.example, fixed=fixed) for i, run in enumerate(value))


def _like(file: UserFile, at: Location, what: str, value: Any, example: Inputs, *, fixed: bool) -> Inputs:
    """Checks the inputs of one run against the example. If `fixed`, shapes and numbers must also be equal."""
    inputs = file.inputs(at, what, value)
    if inputs.kwargs.keys() == example.kwargs.keys():
        inputs = Inputs(inputs.args, {key: inputs.kwargs[key] for key in example.kwargs})
    leaves, spec = inputs.flatten()
    example_leaves, example_spec = example.flatten()
    if spec != example_spec:
        raise file.nonsense(
            at, what, value, f"inputs like the example's, {describe(example.args or dict(example.kwargs))}"
        )
    for index, (leaf, like) in enumerate(zip(leaves, example_leaves, strict=True)):
        alike = type(leaf) is type(like) or (isinstance(leaf, torch.Tensor) and isinstance(like, torch.Tensor))
        if alike and isinstance(leaf, torch.Tensor):
            alike = leaf.dtype == like.dtype and leaf.dim() == like.dim() and (not fixed or leaf.shape == like.shape)
        elif alike and fixed:
            alike = leaf == like or repr(leaf) == repr(like)  # NaN is not equal to itself.
        if not alike:
            hint = "; other sizes need get_dynamic_shapes()" if fixed else ""
            raise file.nonsense(at, f"{what}, input {index},", leaf, f"as in the example {describe(like)}{hint}")
    return inputs
