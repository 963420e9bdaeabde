"""Reads from the model file and the rule how the methods of a model are quantized and lowered to backends.

export/README.md has the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from executorch.exir import EdgeCompileConfig
from executorch.exir.backend.partitioner import Partitioner
from executorch.exir.pass_manager import PassType
from executorch.exir.passes import MemoryPlanningPass
from torch.export import ExportedProgram

from diagnostics.errors import InputError, Location
from export.lower import recipes
from export.user.inputs import Inputs
from export.user.model_file import Method, ModelFile

if TYPE_CHECKING:
    from torchao.quantization.pt2e.quantizer import Quantizer

_T = TypeVar("_T")

# ExecuTorch's recipes call these passes `aten_transform_passes`.
AtenPass = Callable[[ExportedProgram], ExportedProgram]


@dataclass(frozen=True)
class Quantization:
    """The quantization of a method.

    Attributes:
        quantizer: annotates the graph.
        calibration: the inputs of the calibration runs, which observe the ranges of values.
        at: the origin of the quantizer, for error messages.
    """

    quantizer: Quantizer
    calibration: tuple[Inputs, ...]
    at: Location


@dataclass(frozen=True)
class Lowering:
    """The lowering of a method.

    Attributes:
        aten_passes: passes on the exported program, after the quantization and before the edge dialect.
        partitioners: the partitioners, in order. Each takes operators that the partitioners before it left.
        edge_passes: passes on the graph of the edge dialect, before the partitioners.
        quantization: the quantization; None for none.
    """

    aten_passes: tuple[AtenPass, ...] = ()
    partitioners: tuple[Partitioner, ...] = ()
    edge_passes: tuple[PassType, ...] = ()
    quantization: Quantization | None = None


def read(model: ModelFile, backends: Sequence[str] = (), quantize: str = "") -> Mapping[str, Lowering]:
    """Reads the lowering of each method of a model.

    Args:
        model: the model file, whose optional functions may return partitioners, passes and quantizers.
        backends: names of recipes, in the order in which the partitioners run.
        quantize: the name of a recipe; empty for none.
    Raises:
        InputError: there is no such recipe, a function's result does not match README.md, or both the model file and
            the rule name partitioners or a quantizer.
    """
    if backends and model.file.function("get_partitioners"):
        raise _given_twice(model, "get_partitioners", f"backends = [{', '.join(map(repr, backends))}]")
    if quantize and model.file.function("get_quantizer"):
        raise _given_twice(model, "get_quantizer", f"quantize = {quantize!r}")
    partitioners = _lists(
        model, "get_partitioners", lambda one: isinstance(one, Partitioner), "a list of partitioners, in order"
    )
    aten_passes = _lists(model, "get_aten_passes", callable, "a list of functions of an ExportedProgram, in order")
    passes = _lists(model, "get_edge_passes", callable, "a list of passes, in order")
    quantizers = _quantizers(model, quantize)
    calibration = model.optional("get_calibration_inputs") if quantizers else {}
    return {
        method.name: Lowering(
            aten_passes.get(method.name, ()),
            tuple(recipes.partitioner(name) for name in backends) or partitioners.get(method.name, ()),
            passes.get(method.name, ()),
            _quantization(model, method, quantizers, calibration),
        )
        for method in model.methods
    }


def edge_compile_config(model: ModelFile) -> EdgeCompileConfig:
    """Returns the model file's EdgeCompileConfig. Default: `EdgeCompileConfig(_check_ir_validity=False)`.

    Raises:
        InputError: the model file's function returns another type.
    """
    config = _object(model, "get_edge_compile_config", EdgeCompileConfig, "an executorch.exir.EdgeCompileConfig")
    # The validity check of the edge dialect refuses all custom operators.
    return EdgeCompileConfig(_check_ir_validity=False) if config is None else config


def memory_planning_pass(model: ModelFile, *, alloc_graph_input: bool) -> MemoryPlanningPass:
    """Returns the model file's MemoryPlanningPass. Default: ExecuTorch's, with `alloc_graph_input`.

    Raises:
        InputError: the model file's function returns another type, or a pass with options that are not supported.
    """
    name = "get_memory_planning_pass"
    if not alloc_graph_input and model.file.function(name):
        raise InputError.of(
            model.location(name),
            "the model file has get_memory_planning_pass(), and the rule alloc_graph_input = False",
            "the option was added to a rule whose model file has a pass of its own, or the other way round.",
            "leave out one of the two: MemoryPlanningPass also has the option.",
            id="lowering-given-twice",
        )
    planning_pass = _object(model, name, MemoryPlanningPass, "an executorch.exir.passes.MemoryPlanningPass")
    if planning_pass is None:
        return MemoryPlanningPass(alloc_graph_input=alloc_graph_input)
    if planning_pass.share_mutable_buffers or not planning_pass.alloc_mutable_buffers:
        found = "a pass with share_mutable_buffers=True or alloc_mutable_buffers=False"
        expected = "a pass that plans the buffers of each method"
        raise model.file.source.nonsense(model.location(name), f"{name}()", found, expected)
    return planning_pass


def _object(model: ModelFile, name: str, kind: type[_T], expected: str) -> _T | None:
    """Returns the object that an optional function of the model file returns; None without the function."""
    function = model.file.function(name)
    value = model.file.source.call(function) if function else None
    if function and not isinstance(value, kind):
        raise model.file.source.nonsense(model.location(name), f"{name}()", value, expected)
    return value


def _lists(model: ModelFile, name: str, is_element: Callable[[Any], bool], expected: str) -> dict[str, tuple[Any, ...]]:
    """Returns the lists that an optional function of the model file gives for each method."""
    lists: dict[str, tuple[Any, ...]] = {}
    for method, value in model.optional(name).items():
        if not isinstance(value, list) or not value or isinstance(value[0], type) or not all(map(is_element, value)):
            raise model.file.source.nonsense(model.location(name), model.named(name, method), value, expected)
        lists[method] = tuple(value)
    return lists


def _quantizers(model: ModelFile, quantize: str) -> dict[str, Quantizer]:
    name = "get_quantizer"
    if quantize:
        return {method.name: recipes.quantizer(quantize) for method in model.methods}
    if not model.file.function(name):
        return {}
    from torchao.quantization.pt2e.quantizer import Quantizer  # The model file has already imported torchao.

    quantizers = dict(model.optional(name))
    expected = "a quantizer, of a class below torchao.quantization.pt2e.quantizer.Quantizer"
    for method, value in quantizers.items():
        if not isinstance(value, Quantizer):
            raise model.file.source.nonsense(model.location(name), model.named(name, method), value, expected)
    return quantizers


def _quantization(
    model: ModelFile, method: Method, quantizers: Mapping[str, Quantizer], calibration: Mapping[str, Any]
) -> Quantization | None:
    function = "get_calibration_inputs"
    if method.name not in quantizers:
        return None
    if method.exported is not None:
        raise model.file.source.nonsense(
            method.at,
            f"the model of {method.name}",
            "an ExportedProgram, which the tool cannot quantize",
            "(torch.nn.Module, example_inputs), which the tool exports before and after the quantization",
        )
    inputs = method.samples
    if method.name in calibration:
        what = model.named(function, method.name)
        inputs = method.runs(model.location(function), what, calibration[method.name])
    at = model.location("get_quantizer") if model.file.function("get_quantizer") else method.at
    return Quantization(quantizers[method.name], inputs, at)


def _given_twice(model: ModelFile, function: str, attribute: str) -> InputError:
    return InputError.of(
        model.location(function),
        f"the model file has {function}(), and the rule {attribute}",
        "a recipe was added to a rule whose model file lowers the model itself, or the other way round.",
        f"leave out one of the two: {function}() can also return the result of the recipe.",
        id="lowering-given-twice",
    )
