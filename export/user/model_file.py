"""Reads a model file: runs the file, calls the entry point, and checks the result.

export/README.md has the contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from diagnostics.errors import InputError, Location
from export.user import inputs, user_file
from export.user.inputs import Inputs
from export.user.source import Source
from export.user.user_file import UserFile

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
    source: Source
    at: Location

    def runs(self, at: Location, what: str, value: Any) -> tuple[Inputs, ...]:
        """Returns a list of inputs that a function returned, one element for each run of the method.

        Args:
            at: the location of the function.
            what: the name of the list, for error messages.
            value: the list. Its elements must have the structure and the dtypes of the example.
        """
        is_fixed = self.exported is None and self.dynamic_shapes is None
        return inputs.read_all(self.source, at, what, value, self.example, fixed=is_fixed)


@dataclass(frozen=True)
class ModelFile:
    """A model file after its run.

    Attributes:
        file: the file.
        names: the names of the methods.
        several: whether the entry point returned a dict of methods. The optional functions then return dicts, too.
        methods: the methods that the entry point returned.
    """

    file: UserFile
    names: tuple[str, ...]
    several: bool
    methods: tuple[Method, ...] = ()

    def location(self, name: str) -> Location:
        """Returns the location of one of the file's functions."""
        return self.file.source.location(self.file.function(name))

    def optional(self, name: str) -> Mapping[str, Any]:
        """Calls an optional function. Returns the values of the methods that the function has values for."""
        function = self.file.function(name)
        if function is None:
            return {}
        value = self.file.source.call(function)
        if not self.several:
            return {"forward": value}
        if not isinstance(value, dict) or not value.keys() <= set(self.names):
            expected = f"a dict with keys out of {', '.join(self.names)}"
            raise self.file.source.nonsense(self.location(name), f"{name}()", value, expected)
        return value

    def named(self, function: str, method: str) -> str:
        """Returns the name of a function's value for a method, for error messages."""
        return f"{function}()" + (f"[{method!r}]" if self.several else "")


def load(path: Path, entry_point: str, import_paths: Sequence[Path], *, rule: str) -> ModelFile:
    """Runs a model file and reads the methods that it describes.

    Args:
        path: the Python file.
        entry_point: the name of the function in the file that returns the model.
        import_paths: folders of the user's own modules, for error messages.
        rule: the rule of the model, for error messages.
    Raises:
        InputError: the file, or the result of one of its functions, does not match export/README.md.
    """
    source = Source(path, tuple(import_paths), kind="model", rule=rule)
    file = user_file.run(source)
    get_model = file.entry_point(entry_point, _CONTRACT)
    torch.manual_seed(0)
    # TransformerEncoder's fast path gives zeros for padded positions. torch.export traces the other path.
    torch.backends.mha.set_fastpath_enabled(False)
    model = source.call(get_model)
    at = source.location(get_model)
    several = isinstance(model, dict)
    if several and not (model and all(isinstance(name, str) and name for name in model)):
        raise source.nonsense(at, f"{entry_point}()", model, f"a dict of method name: {_CONTRACT}")
    models = model if several else {"forward": model}
    loaded = ModelFile(file, tuple(models), several)
    dynamic_shapes = loaded.optional("get_dynamic_shapes")
    samples = loaded.optional("get_sample_inputs")
    methods = []
    for name, value in models.items():
        what = loaded.named(entry_point, name)
        if isinstance(value, torch.export.ExportedProgram):
            method = _exported(source, at, name, what, value)
            if name in dynamic_shapes:
                raise source.nonsense(at, what, value, f"{_CONTRACT}, as get_dynamic_shapes() names {name}")
        else:
            method = _eager(source, at, name, what, value)
            method = replace(method, dynamic_shapes=dynamic_shapes.get(name))
        runs = method.runs(at, "get_sample_inputs()", samples[name]) if name in samples else (method.example,)
        methods.append(replace(method, samples=runs))
    return replace(loaded, methods=tuple(methods))


def _exported(source: Source, at: Location, name: str, what: str, program: torch.export.ExportedProgram) -> Method:
    if program.example_inputs is None:
        found = "an ExportedProgram without example inputs"
        raise source.nonsense(at, what, found, "one that torch.export.export made")
    return Method(name, program.module(), program, Inputs(*program.example_inputs), None, (), source, at)


def _eager(source: Source, at: Location, name: str, what: str, value: Any) -> Method:
    if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], torch.nn.Module)):
        raise source.nonsense(at, what, value, f"{_CONTRACT}, or a torch.export.ExportedProgram")
    module: torch.nn.Module = value[0]
    if fault := _fault(module):
        found, cause, fix = fault
        raise InputError.of(at, f"the module of {what} {found}", cause, fix, id="wrong-return-value")
    example = inputs.read(source, at, f"example inputs of {what}", value[1])
    return Method(name, module.eval(), None, example, None, (), source, at)


def _fault(module: torch.nn.Module) -> tuple[str, str, str] | None:
    """Returns why a module cannot be exported: what was found, the cause and the fix. None if nothing is wrong."""
    if isinstance(module, torch.jit.ScriptModule):
        return (
            "is TorchScript",
            "torch.jit.load, torch.jit.script or torch.jit.trace made the module. torch.export does not take"
            " TorchScript.",
            "make the module from its Python class, and load the weights:"
            " module.load_state_dict(scripted.state_dict()).",
        )
    if cycle := _cycle(module, type(module).__name__, {}, set()):
        return (
            f"contains itself: {cycle[0]} is {cycle[1]}",
            "PyTorch makes a submodule of each module in an attribute. No submodule may contain its parent.",
            "keep the reference in a tuple, which PyTorch does not search: self.parent = (parent,).",
        )
    lazy = [name for name, tensor in (*module.named_parameters(), *module.named_buffers()) if is_lazy(tensor)]
    if lazy:
        return (
            f"has tensors without sizes: {', '.join(lazy)}",
            "a lazy module, such as nn.LazyLinear, has no weights before its first call.",
            "call the module with inputs in get_model(), before it is returned.",
        )
    return None


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
