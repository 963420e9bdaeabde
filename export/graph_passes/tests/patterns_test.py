"""Tests that what a pass merges is computed for nobody else.

Each pass gets each graph that it acts on, with each inner node given out as well, or read by another call.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from absl.testing import absltest, parameterized
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from torch import nn
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.nn import functional

from export.graph_passes import graphs, passes
from export.graph_passes.graph_pass import Stage
from export.graph_passes.tests import rewriting


class _Function(nn.Module):
    """A function of a layer's result."""

    def __init__(self, function: Callable[..., torch.Tensor], layer: nn.Module | None = None) -> None:
        super().__init__()
        self.layer = layer or nn.Identity()
        self.weight = nn.Parameter(torch.rand(8))
        self.function = function

    def forward(self, x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        return self.function(self.layer(x), self.weight, x, *others)


def _gelu(y: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    return 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))


def _cube_first(y: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    return (1.0 + torch.tanh((y + torch.pow(y, 3.0) * 0.044715) * math.sqrt(2.0 / math.pi))) * (y * 0.5)


def _llama_norm(x: torch.Tensor, weight: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
    return weight * y.to(x.dtype)


def _gemma_norm(x: torch.Tensor, weight: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
    return (y * (1.0 + weight.float())).type_as(x)


def _shared_heads(query: torch.Tensor, _: torch.Tensor, __: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    key, value = (one[:, :, None].expand(1, 2, 3, 5, 4).reshape(1, 6, 5, 4) for one in others)
    return functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(1, 3, 24)


def _tokens_first(query: torch.Tensor, _: torch.Tensor, __: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    query, key, value = (one.transpose(1, 2) for one in (query, *others))
    return functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(2, 3, 20)


class _Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 32, 3), nn.Conv2d(32, 32, 3)
        self.norms = nn.Sequential(nn.BatchNorm2d(32), nn.BatchNorm2d(32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x).sigmoid()
        z = self.norms(self.second(functional.pad(y, (0, 2, 1, 1))))
        return torch.relu(z + y).amax(dim=(2, 3))


def _quantized(module: nn.Module, *inputs: torch.Tensor) -> nn.Module:
    # Defines the operators' out variants.
    import executorch.kernels.quantized  # noqa: F401
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer
    from torchao.quantization.pt2e import quantize_pt2e

    config = xnnpack_quantizer.get_symmetric_quantization_config(is_per_channel=True)
    quantizer = xnnpack_quantizer.XNNPACKQuantizer().set_global(config)
    prepared = quantize_pt2e.prepare_pt2e(torch.export.export(module.eval(), inputs).module(), quantizer)
    prepared(*inputs)
    converted: nn.Module = quantize_pt2e.convert_pt2e(prepared)
    return converted


def _quantized_images() -> nn.Module:
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), nn.ReLU6(), nn.ZeroPad2d((0, 1, 1, 0)), nn.Conv2d(8, 8, 3), nn.Sigmoid()
    )
    return _quantized(
        _Function(lambda y, _, __: functional.relu(y + y.flip(3)).mean((2, 3)), module), torch.rand(1, 3, 12, 12)
    )


def _by_torchao(config: str) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        from torchao import quantization
        from torchao.quantization.granularity import PerGroup

        configs = {
            "weights": quantization.Int8WeightOnlyConfig,
            "groups": lambda: quantization.IntxWeightOnlyConfig(torch.int4, PerGroup(32)),  # type: ignore[attr-defined]
            "dynamic": quantization.Int8DynamicActivationInt8WeightConfig,
            "dynamic groups": lambda: quantization.Int8DynamicActivationIntxWeightConfig(
                weight_dtype=torch.int4,  # type: ignore[attr-defined]
                weight_granularity=PerGroup(32),
            ),
        }
        module = nn.Sequential(nn.Linear(64, 320)).eval()
        quantization.quantize_(module, configs[config]())
        return module

    return make


@dataclass(frozen=True)
class _Pattern:
    """A module that has a pattern of some passes.

    Attributes:
        make: makes the module.
        shapes: of its inputs.
        acts: the passes that act on the module.
        names: the passes that run.
        dtype: of the module.
        tolerance: how much may differ.
    """

    make: Callable[[], nn.Module]
    shapes: Sequence[tuple[int, ...]]
    acts: Sequence[str]
    names: Sequence[str] = ("all",)
    dtype: torch.dtype = torch.float32
    tolerance: float = 1e-3


def _of_linear(function: Callable[..., torch.Tensor]) -> Callable[[], nn.Module]:
    return lambda: _Function(function, nn.Linear(4, 48))


_ROW = (3, 4)
_HEADS = [(2, 3, 4, 5)] * 3
_PATTERNS: dict[str, _Pattern] = {
    **{
        name: _Pattern(_of_linear(one), [_ROW], ["packed_linear", "activations"])
        for name, one in {
            "gelu": lambda y, *_: functional.gelu(y),
            "clamp": lambda y, *_: y.clamp(-1, 2),
            "relu_of_views": lambda y, *_: torch.relu(y.view(4, 36).view(2, 72)),
        }.items()
    },
    **{
        name: _Pattern(_of_linear(one), [_ROW], ["written_activations", "packed_linear", "activations"])
        for name, one in {
            "gelu_tanh": _gelu,
            "gelu_tanh_of_other_order": _cube_first,
            "hardswish": lambda y, *_: y * functional.relu6(y + 3) / 6,
            "mish": lambda y, *_: y * torch.tanh(functional.softplus(y)),
            "silu": lambda y, *_: torch.sigmoid(y) * y,
        }.items()
    },
    "llama_norm": _Pattern(lambda: _Function(_llama_norm), [(2, 3, 8)], ["rms_norm"]),
    "llama_norm_of_bfloat16": _Pattern(
        lambda: _Function(_llama_norm), [(2, 3, 8)], ["rms_norm"], dtype=torch.bfloat16, tolerance=0.05
    ),
    "gemma_norm_of_bfloat16": _Pattern(
        lambda: _Function(_gemma_norm), [(2, 3, 8)], ["rms_norm"], dtype=torch.bfloat16, tolerance=0.05
    ),
    "shared_heads": _Pattern(
        lambda: _Function(_shared_heads), [(1, 6, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)], ["attention"]
    ),
    "tokens_first": _Pattern(lambda: _Function(_tokens_first), _HEADS, ["attention"]),
    "batch_norm": _Pattern(lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)), [_ROW], ["batch_norm"]),
    "residual": _Pattern(
        _Residual,
        [(1, 3, 18, 18)],
        ["batch_norm", "uneven_padding", "channels_last", "addends", "activations"],
    ),
    "winograd": _Pattern(_Residual, [(1, 3, 34, 34)], ["winograd"]),
    "quantized": _Pattern(
        _quantized_images,
        [(1, 3, 12, 12)],
        ["quantized_moves", "quantized_tables", "quantized_layers", "quantized_add", "channels_of_bytes"],
        tolerance=0.05,
    ),
    "weight_only": _Pattern(_by_torchao("weights"), [(2, 64)], ["weight_only"]),
    "weight_only_in_groups": _Pattern(_by_torchao("groups"), [(2, 64)], ["weight_only"]),
    "dynamic_linear": _Pattern(_by_torchao("dynamic"), [(2, 64)], ["dynamic_linear"]),
    "dynamic_linear_in_groups": _Pattern(_by_torchao("dynamic groups"), [(2, 64)], ["dynamic_linear"]),
}


class PatternsTest(parameterized.TestCase):
    @parameterized.named_parameters(_PATTERNS.items())
    def test_inner_nodes(self, pattern: _Pattern) -> None:
        module, inputs = _made(pattern)
        rewritten = rewriting.Rewritten(torch.export.export(module, inputs))
        for one in rewriting.steps(rewritten, pattern.names):
            before = copy.deepcopy(rewritten.program)
            rewriting.run(rewritten, one)
            if not rewritten.changes[one.name]:
                continue
            for name, is_read in itertools.product(_inner(before), (False, True)):
                changed = rewriting.Rewritten(copy.deepcopy(before))
                _give_out(changed.program, name, is_read=is_read)
                expected = changed.run(inputs)
                rewriting.run(changed, one)
                with self.subTest(one.name, name=name, is_read=is_read):
                    _compare(changed.run(inputs), expected, pattern.tolerance)
        self.assertContainsSubset(pattern.acts, [name for name, changes in rewritten.changes.items() if changes])
        _compare(rewritten.run(inputs), [module(*inputs)], pattern.tolerance)

    @parameterized.named_parameters(_PATTERNS.items())
    def test_runs_twice(self, pattern: _Pattern) -> None:
        """A pass takes a program that it has changed, and one that all passes have changed."""
        module, inputs = _made(pattern)
        rewritten = rewriting.rewrite(module, inputs, pattern.names, times=2)
        for one in passes.select(pattern.names):
            if one.stage is Stage.LOWERED:
                rewriting.run(rewritten, one)
        _compare(rewritten.run(inputs), [module(*inputs)], pattern.tolerance)


def _made(pattern: _Pattern) -> tuple[nn.Module, rewriting.Inputs]:
    torch.manual_seed(0)
    module = pattern.make().to(pattern.dtype)
    if not isinstance(module, torch.fx.GraphModule):
        module.eval()
    return module, tuple(torch.rand(shape, dtype=pattern.dtype) for shape in pattern.shapes)


def _inner(program: ExportedProgram) -> list[str]:
    """The calls whose tensor the method does not give out."""
    return [
        node.name
        for node in program.graph.nodes
        if node.op == "call_function" and isinstance(graphs.value(node), torch.Tensor) and not graphs.is_output(node)
    ]


def _give_out(program: ExportedProgram, name: str, *, is_read: bool) -> None:
    """Has a method give out a node as well, or what another call makes of it."""
    (node,) = (node for node in program.graph.nodes if node.name == name)
    output = program.graph.output_node()
    if is_read:
        is_lowered = isinstance(node.target, EdgeOpOverload)
        target = graphs.EDGE.aten.abs.default if is_lowered else torch.ops.aten.abs.default
        node = graphs.insert_call(output, target, (node,), graphs.value(node).abs())
    output.args = ((*output.args[0], node),)
    spec = OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None)
    program.graph_signature.output_specs.append(spec)
    program.graph_module.recompile()


def _compare(actual: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float) -> None:
    for one, other in zip(actual, expected, strict=True):
        is_float = other.is_floating_point()
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance if is_float else 1)


if __name__ == "__main__":
    absltest.main()
