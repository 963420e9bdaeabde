"""Where kernels differ from PyTorch on purpose: the sweeps excuse these calls, and no others."""

import dataclasses
from collections.abc import Callable

import torch

from kernels.testing import inputs
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.trial import Outcome, Verdict

_WIDE = frozenset({*inputs.COMPLEX_DTYPES, *inputs.UNSIGNED_DTYPES})
_INTS = frozenset({torch.int32, torch.int16, torch.int8, torch.uint8})

_HALVES = frozenset({torch.float16, torch.bfloat16})
_PADS = tuple(f"aten::{kind}_pad{rank}d.out" for kind in ("reflection", "replication") for rank in (1, 2, 3))


@dataclasses.dataclass(frozen=True)
class Departure:
    """One way in which kernels differ from PyTorch.

    Attributes:
      name: names the departure in messages.
      operators: the operators that differ; empty: all.
      what: what the kernel does.
      reason: why.
      outcome: what becomes of a call.
      applies: whether a call with this outcome is one of those.
      example: such a call.
    """

    name: str
    operators: tuple[str, ...]
    what: str
    reason: str
    outcome: Outcome
    applies: Callable[[Call, Verdict], bool]
    example: Callable[[], Call]


def find(call: Call, verdict: Verdict) -> str | None:
    """The name of the departure that a verdict which is not PyTorch's is due to."""
    for departure in DEPARTURES:
        if (
            departure.outcome == verdict.outcome
            and (not departure.operators or call.operator in departure.operators)
            and departure.applies(call, verdict)
        ):
            return departure.name
    return None


def _has(call: Call, dtypes: frozenset[torch.dtype]) -> bool:
    return any(tensor.dtype in dtypes for tensor in call.tensors) or call.out_dtype in dtypes


def _is_empty(call: Call, verdict: Verdict) -> bool:
    return 0 in verdict.shape or any(tensor.numel() == 0 for tensor in call.tensors)


DEPARTURES = (
    Departure(
        name="dtypes",
        operators=(),
        what="Most operators refuse complex numbers and unsigned integers of 16 to 64 bits.",
        reason="ExecuTorch's kernels take these dtypes in few operators; those operators take them here, too.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _WIDE),
        example=lambda: Call("aten::atan.out", (torch.ones(2, dtype=torch.complex64),), {}),
    ),
    Departure(
        name="empty tensors",
        operators=(),
        what="A call with empty tensors is refused where the same call with elements is.",
        reason="PyTorch checks some dtypes and arguments only where there are elements. A kernel checks first, so that "
        "a program fails on every input or on none.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=_is_empty,
        example=lambda: Call("aten::_softmax.out", (torch.ones(2, 0, dtype=torch.int64), 1, False), {}),
    ),
    Departure(
        name="integers in convolution",
        operators=("aten::convolution.out",),
        what="Int, Short, Char and Byte are taken.",
        reason="ExecuTorch's kernel takes all real dtypes.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _has(call, _INTS),
        example=lambda: Call(
            "aten::convolution.out",
            (_ints(1, 3, 4), _ints(3, 3, 3), None, [2], [2], [1], True, [1], 1),
            {},
        ),
    ),
    Departure(
        name="padding of Bool",
        operators=_PADS,
        what="Bool is taken.",
        reason="ExecuTorch's kernels take all dtypes.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.dtype == torch.bool,
        example=lambda: Call("aten::reflection_pad1d.out", (torch.ones(1, 3, dtype=torch.bool), [1, 2]), {}),
    ),
    Departure(
        name="integers and halves in antialiased upsampling",
        operators=("aten::_upsample_bilinear2d_aa.out",),
        what="All real dtypes are taken.",
        reason="ExecuTorch's kernel takes them; PyTorch takes Float, Double and Byte.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _has(call, _INTS | _HALVES | {torch.int64}),
        example=lambda: Call("aten::_upsample_bilinear2d_aa.out", (_ints(1, 1, 4, 4), [2, 2], False, None, None), {}),
    ),
    Departure(
        name="Byte in antialiased upsampling",
        operators=("aten::_upsample_bilinear2d_aa.out",),
        what="Bytes may differ by one.",
        reason="PyTorch interpolates Bytes in fixed point, the kernel in Float.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: call.dtype == torch.uint8,
        example=lambda: Call(
            "aten::_upsample_bilinear2d_aa.out",
            (inputs.make_tensor((6, 3, 10, 20), torch.uint8, high=255), [3, 3], False, None, None),
            {},
        ),
    ),
    Departure(
        name="halves in distances",
        operators=("aten::_cdist_forward.out", "aten::_pdist_forward.out"),
        what="Half and BFloat16 are taken with every norm, calculated in Float.",
        reason="PyTorch takes them in cdist with norm 2 only; kernels take the same dtypes with all norms.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _has(call, _HALVES),
        example=lambda: Call("aten::_cdist_forward.out", (*[torch.ones(3, 3, dtype=torch.float16)] * 2, 1.0, None), {}),
    ),
    Departure(
        name="negative norms",
        operators=("aten::_pdist_forward.out",),
        what="A negative p is refused.",
        reason="ExecuTorch's kernel refuses it, and so does PyTorch's cdist.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not [*call.args[1:], *call.kwargs.values()][0] >= 0,
        example=lambda: Call("aten::_pdist_forward.out", (torch.ones(3, 3), -2.5), {}),
    ),
    Departure(
        name="infinity in gelu",
        operators=("aten::gelu.out",),
        what="The result for infinity is infinity.",
        reason="PyTorch gives NaN in vectorized loops, and infinity in others.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: bool(torch.isposinf(call.tensors[0]).any()),
        example=lambda: Call("aten::gelu.out", (torch.full((64,), float("inf")),), {}),
    ),
    Departure(
        name="wide unsigned integers in index_put_",
        operators=("aten::index_put_",),
        what="UInt16, UInt32 and UInt64 are taken.",
        reason="The kernel only moves elements.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.dtype in inputs.UNSIGNED_DTYPES,
        example=lambda: Call(
            "aten::index_put_",
            (
                torch.ones(3, dtype=torch.uint16),
                [torch.tensor([1])],
                torch.ones(1, dtype=torch.uint16),
                False,
            ),
            {},
        ),
    ),
    Departure(
        name="shapes in native_group_norm",
        operators=("aten::native_group_norm.out",),
        what="A tensor whose first two sizes are not N and C is refused.",
        reason="ExecuTorch's kernel refuses it; PyTorch looks at the number of elements only.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: list(call.tensors[0].shape[:2]) != [*call.args[3:5]],
        example=lambda: Call("aten::native_group_norm.out", (torch.ones(6, 3), None, None, 1, 6, 3, 2, 0.5), {}),
    ),
    Departure(
        name="conjugates of real numbers",
        operators=("aten::_conj_physical.out",),
        what="Only complex dtypes are taken.",
        reason="ExecuTorch's kernel takes no others; PyTorch copies real numbers.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not call.dtype.is_complex,
        example=lambda: Call("aten::_conj_physical.out", (torch.ones(2),), {}),
    ),
    Departure(
        name="copies between devices",
        operators=("et_copy::_d2h_copy.out", "et_copy::_h2d_copy.out"),
        what="Tensors that are both the CPU's are refused.",
        reason="One of the tensors must be a device's, of which this page's run has none.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: True,
        example=lambda: Call("et_copy::_h2d_copy.out", (torch.ones(2),), {}),
    ),
    Departure(
        name="modes of grid_sampler_2d",
        operators=("aten::grid_sampler_2d.out",),
        what="Unknown modes of interpolation and padding are refused.",
        reason="PyTorch checks the modes in torch.nn.functional only, and takes an unknown one for another.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[2] not in (0, 1, 2) or call.args[3] not in (0, 1, 2),
        example=lambda: Call(
            "aten::grid_sampler_2d.out", (torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2), 0, 3, False), {}
        ),
    ),
    Departure(
        name="the least integer as alpha",
        operators=("aten::rsub.Scalar_out", "aten::sub.Scalar_out", "aten::sub.out"),
        what="A difference of floats with the alpha -2^63 has the sign that the numbers give.",
        reason="PyTorch negates alpha as a Long, which wraps around.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: -(2**63) in (call.kwargs.get("alpha"), *call.args[2:]),
        example=lambda: Call("aten::sub.Scalar_out", (_ints(2), -1.0, -(2**63)), {}),
    ),
    Departure(
        name="integers in nearest upsampling",
        operators=("aten::upsample_nearest2d.vec_out",),
        what="All real dtypes and Bool are taken.",
        reason="The kernel only moves elements; PyTorch takes Byte alone of the integers.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: not call.dtype.is_floating_point,
        example=lambda: Call("aten::upsample_nearest2d.vec_out", (_ints(1, 1, 2, 2), [3, 3], None), {}),
    ),
    Departure(
        name="Byte in bilinear upsampling",
        operators=("aten::upsample_bilinear2d.vec_out",),
        what="Byte is refused.",
        reason="PyTorch interpolates Bytes in fixed point, with other roundings than those of floats.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.dtype == torch.uint8,
        example=lambda: Call(
            "aten::upsample_bilinear2d.vec_out",
            (torch.ones(1, 1, 2, 2, dtype=torch.uint8), [3, 3], False, None),
            {},
        ),
    ),
    Departure(
        name="empty tensors in cat",
        operators=("aten::cat.out",),
        what="An empty tensor of any shape is left out.",
        reason="ExecuTorch's kernel leaves such tensors out, PyTorch only those of shape [0].",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: any(tensor.numel() == 0 for tensor in call.tensors),
        example=lambda: Call("aten::cat.out", ([torch.ones(2, 3), torch.ones(5, 0, 4)], 0), {}),
    ),
    Departure(
        name="index without indices",
        operators=("aten::index.Tensor_out", "aten::index_put.out"),
        what="A list of null indices chooses the whole tensor.",
        reason="ExecuTorch's kernels do so; PyTorch wants at least one index.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: all(index is None for index in call.args[1]),
        example=lambda: Call("aten::index.Tensor_out", (torch.ones(2, 3), [None]), {}),
    ),
    Departure(
        name="large exponents",
        operators=("aten::pow.Tensor_Scalar_out",),
        what="Floats have an exponent of their dtype: an odd exponent beyond its integers becomes even.",
        reason="ExecuTorch's kernel rounds the exponent, too; PyTorch keeps a Double.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: abs(call.args[1]) > 1 << 24,
        example=lambda: Call("aten::pow.Tensor_Scalar_out", (torch.full((8,), -2.0), (1 << 31) - 1), {}),
    ),
    Departure(
        name="parameters of batch norm",
        operators=(
            "aten::_native_batch_norm_legit.no_stats_out",
            "aten::_native_batch_norm_legit.out",
            "aten::_native_batch_norm_legit_no_training.out",
        ),
        what="A weight, bias, mean or variance that has not one element for each channel is refused.",
        reason="PyTorch reads beyond such a tensor in some memory layouts.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: any(list(p.shape) != [call.tensors[0].shape[1]] for p in call.tensors[1:]),
        example=lambda: Call(
            "aten::_native_batch_norm_legit_no_training.out",
            (torch.ones(1, 3, 2), torch.ones(()), torch.ones(3), torch.ones(3), torch.ones(3), 0.1, 1e-5),
            {},
        ),
    ),
)


def _ints(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.int32)
