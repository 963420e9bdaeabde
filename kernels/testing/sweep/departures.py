"""The intentional differences between kernels and PyTorch. The sweeps excuse these calls and no others."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch

from kernels.testing import inputs
from kernels.testing.sweep import refused_dtypes
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.trial import Outcome, Verdict

_COMPLEX = frozenset(inputs.COMPLEX_DTYPES)
_UNSIGNED = frozenset(inputs.UNSIGNED_DTYPES)
_INTS = frozenset({torch.int32, torch.int16, torch.int8, torch.uint8})

_HALVES = frozenset({torch.float16, torch.bfloat16})
_QUANTIZED = frozenset({torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32})
_QUANTIZE = tuple(
    f"quantized_decomposed::quantize_per_{name}"
    for name in ("channel.out", "tensor.Tensor_out", "tensor.out", "token.out")
)
_PARAMETERS_IN_TENSORS = tuple(
    f"quantized_decomposed::{kind}quantize_per_{name}"
    for kind in ("de", "")
    for name in ("channel.out", "tensor.Tensor_out", "token.out")
)
_REFUSED_THERE = "ExecuTorch's kernels also reject them, or ExecuTorch has no kernel of the operator."
_BILINEAR = ("aten::_upsample_bilinear2d_aa.out", "aten::upsample_bilinear2d.vec_out")
_FOURIER = ("aten::_fft_c2c.out", "aten::_fft_c2r.out", "aten::_fft_r2c.out")
_BAGS = (False, 0, False, None, False, -1)
_PADS = tuple(f"aten::{kind}_pad{rank}d.out" for kind in ("reflection", "replication") for rank in (1, 2, 3))


@dataclasses.dataclass(frozen=True)
class Departure:
    """An intentional difference between kernels and PyTorch.

    Attributes:
      name: the name of the departure in messages.
      operators: the operators that differ; empty: all.
      what: the behavior of the kernel.
      reason: the reason.
      outcome: the outcome of the calls.
      applies: whether the departure applies to a call with this outcome.
      example: a function that returns such a call.
      refused: the dtypes for which the operators have no kernel.
      depends_on_processor: whether PyTorch equals the kernel on some processors.
    """

    name: str
    operators: tuple[str, ...]
    what: str
    reason: str
    outcome: Outcome
    applies: Callable[[Call, Verdict], bool]
    example: Callable[[], Call]
    refused: frozenset[torch.dtype] = frozenset()
    depends_on_processor: bool = False


def find(call: Call, verdict: Verdict) -> Departure | None:
    """The departure that excuses a verdict. None if no departure applies."""
    for departure in DEPARTURES:
        if (
            departure.outcome == verdict.outcome
            and (not departure.operators or call.operator in departure.operators)
            and departure.applies(call, verdict)
        ):
            return departure
    return None


def _has(call: Call, dtypes: frozenset[torch.dtype]) -> bool:
    return any(tensor.dtype in dtypes for tensor in call.tensors) or call.out_dtype in dtypes


def is_empty(call: Call, verdict: Verdict) -> bool:
    """Whether a tensor among the arguments or PyTorch's first result has no elements."""
    return 0 in verdict.shape or any(tensor.numel() == 0 for tensor in call.tensors)


DEPARTURES = (
    Departure(
        name="complex numbers",
        operators=refused_dtypes.COMPLEX,
        what="Complex numbers are rejected.",
        reason=_REFUSED_THERE,
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _COMPLEX),
        example=lambda: Call("aten::mean.out", (torch.ones(2, dtype=torch.complex64), None, False), {"dtype": None}),
        refused=_COMPLEX,
    ),
    Departure(
        name="unsigned integers",
        operators=refused_dtypes.UNSIGNED,
        what="Unsigned integers of 16 to 64 bits are rejected.",
        reason=_REFUSED_THERE,
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _UNSIGNED),
        example=lambda: Call("aten::erf.out", (torch.ones(2, dtype=torch.uint16),), {}),
        refused=_UNSIGNED,
    ),
    Departure(
        name="unsigned integers in further operators",
        operators=refused_dtypes.UNSIGNED_IN_FURTHER,
        what="Unsigned integers of 16 to 64 bits are rejected.",
        reason="The other arithmetic kernels reject them, too. ExecuTorch has no such kernels.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _UNSIGNED),
        example=lambda: Call("aten::erfc.out", (torch.ones(2, dtype=torch.uint16),), {}),
        refused=_UNSIGNED,
    ),
    Departure(
        name="complex numbers in further operators",
        operators=refused_dtypes.COMPLEX_IN_FURTHER,
        what="Complex numbers are rejected.",
        reason="Matrices of models are real. ExecuTorch has no such kernels.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _COMPLEX),
        example=lambda: Call("aten::_linalg_det.result", (torch.eye(2, dtype=torch.complex64),), {}),
        refused=_COMPLEX,
    ),
    Departure(
        name="signs of vectors",
        operators=("aten::_linalg_eigh.eigenvalues", "aten::_linalg_svd.U"),
        what="Vectors may have other signs, and other directions if values are equal.",
        reason="They are not unique. LAPACK's depend on its version and on the processor.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: call.args[2],
        example=lambda: Call("aten::_linalg_eigh.eigenvalues", (torch.tensor([[1.0, 2], [2, 1]]), "L", True), {}),
        depends_on_processor=True,
    ),
    Departure(
        name="dtypes in solve_triangular",
        operators=("aten::linalg_solve_triangular.out",),
        what="Right sides of another dtype than the matrices are rejected.",
        reason="PyTorch does not check the dtypes.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[0].dtype != call.args[1].dtype,
        example=lambda: Call(
            "aten::linalg_solve_triangular.out",
            (torch.eye(2), torch.ones(2, 1, dtype=torch.float64)),
            {"upper": True, "left": True, "unitriangular": False},
        ),
    ),
    Departure(
        name="halves in matrix_exp",
        operators=("aten::linalg_matrix_exp.out",),
        what="Halves are rejected.",
        reason="PyTorch multiplies matrices of halves, and its results have two digits.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _HALVES),
        example=lambda: Call("aten::linalg_matrix_exp.out", (torch.eye(2, dtype=torch.float16),), {}),
        refused=_HALVES,
    ),
    Departure(
        name="Bools and complex numbers in index_reduce",
        operators=("aten::index_reduce.out",),
        what="Bools and complex numbers are rejected.",
        reason="PyTorch reduces them in some shapes only.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.dtype == torch.bool or call.dtype.is_complex,
        example=lambda: Call(
            "aten::index_reduce.out",
            (torch.ones(2, 3) > 0, 1, torch.tensor([0, 0]), torch.ones(2, 2) > 0, "prod"),
            {"include_self": True},
        ),
        refused=_COMPLEX | {torch.bool},
    ),
    Departure(
        name="dtypes of indices in embedding_bag",
        operators=("aten::_embedding_bag.out",),
        what="Other indices and offsets than Int and Long are rejected.",
        reason="PyTorch rejects them in an export. Elsewhere it promotes one of both to the dtype of the other.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not {call.args[1].dtype, call.args[2].dtype} <= {torch.int32, torch.int64},
        example=lambda: Call(
            "aten::_embedding_bag.out",
            (torch.ones(4, 3), torch.tensor([1, 2]), torch.tensor([0, 1]).char(), *_BAGS),
            {},
        ),
    ),
    Departure(
        name="bags of embedding_bag",
        operators=("aten::_embedding_bag.out",),
        what="Indices of another rank than one, and offsets that do not ascend, are rejected.",
        reason="PyTorch checks the rank in torch.nn.functional only, and the order not at all.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[1].dim() != 1 or bool((call.args[2].diff() < 0).any()),
        example=lambda: Call(
            "aten::_embedding_bag.out", (torch.ones(4, 3), torch.tensor([[1], [2]]), torch.tensor([0, 1]), *_BAGS), {}
        ),
    ),
    Departure(
        name="NaN in unique_dim",
        operators=("aten::unique_dim.out",),
        what="NaN is larger than all numbers, so that equal items come together.",
        reason="PyTorch sorts by comparisons, which give no order of items with NaN. Equal items may stay apart.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: bool(call.tensors[0].isnan().any()),
        example=lambda: Call("aten::unique_dim.out", (torch.tensor([[1.0, math.nan, 1.0]]), 1, True, True, True), {}),
    ),
    Departure(
        name="complex numbers and unsigned integers",
        operators=refused_dtypes.COMPLEX_AND_UNSIGNED,
        what="Complex numbers and unsigned integers of 16 to 64 bits are rejected.",
        reason=_REFUSED_THERE,
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _COMPLEX | _UNSIGNED),
        example=lambda: Call("aten::atan.out", (torch.ones(2, dtype=torch.complex64),), {}),
        refused=_COMPLEX | _UNSIGNED,
    ),
    Departure(
        name="sums of complex numbers and unsigned integers in index_put",
        operators=("aten::index_put.out", "aten::index_put_"),
        what="With accumulate, complex numbers and unsigned integers of 16 to 64 bits are rejected.",
        reason="ExecuTorch's `index_put.out` takes neither, and ExecuTorch's `index_put_` accumulates nothing.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[3] and _has(call, _COMPLEX | _UNSIGNED),
        example=lambda: Call(
            "aten::index_put_",
            (
                torch.ones(3, dtype=torch.complex64),
                [torch.tensor([1])],
                torch.ones(1, dtype=torch.complex64),
                True,
            ),
            {},
        ),
    ),
    Departure(
        name="empty tensors",
        operators=(),
        what="A call with empty tensors is rejected if the same call with elements is rejected.",
        reason="PyTorch checks some dtypes and arguments only where there are elements. A kernel checks first, so that "
        "a program fails on every input or on none.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=is_empty,
        example=lambda: Call("aten::_softmax.out", (torch.ones(2, 0, dtype=torch.int64), 1, False), {}),
    ),
    Departure(
        name="integers in convolution",
        operators=("aten::convolution.out",),
        what="Int, Short, Char and Byte are accepted.",
        reason="ExecuTorch's kernel supports all real dtypes.",
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
        what="Bool is accepted.",
        reason="ExecuTorch's kernels support all dtypes.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.dtype == torch.bool,
        example=lambda: Call("aten::reflection_pad1d.out", (torch.ones(1, 3, dtype=torch.bool), [1, 2]), {}),
    ),
    Departure(
        name="integers and halves in bilinear upsampling",
        operators=_BILINEAR,
        what="All real dtypes are accepted.",
        reason="ExecuTorch's kernels support them. PyTorch supports no integers except Byte, and no halves with "
        "antialiasing.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _has(call, _INTS | _HALVES | {torch.int64}),
        example=lambda: Call("aten::_upsample_bilinear2d_aa.out", (_ints(1, 1, 4, 4), [2, 2], False, None, None), {}),
    ),
    Departure(
        name="Byte in bilinear upsampling",
        operators=(*_BILINEAR, "aten::_upsample_bicubic2d_aa.out"),
        what="Bytes may differ by one.",
        reason="PyTorch interpolates Bytes in fixed point, and the kernels interpolate in Float.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: call.dtype == torch.uint8,
        example=lambda: Call(
            "aten::_upsample_bilinear2d_aa.out",
            (inputs.make_tensor((6, 3, 10, 20), torch.uint8, high=255), [3, 3], False, None, None),
            {},
        ),
    ),
    Departure(
        name="antialiased images one column wide",
        operators=("aten::_upsample_bicubic2d_aa.out", "aten::_upsample_bilinear2d_aa.out"),
        what="The rows of a result one column wide are interpolated.",
        reason="PyTorch repeats the first row. For the transposed image, PyTorch returns the kernel's result.",
        outcome=Outcome.WRONG,
        applies=lambda _, verdict: verdict.shape[3] == 1,
        example=lambda: Call(
            "aten::_upsample_bilinear2d_aa.out",
            (torch.arange(4.0).reshape(1, 1, 4, 1), [2, 1], False, None, None),
            {},
        ),
    ),
    Departure(
        name="halves in distances",
        operators=("aten::_cdist_forward.out", "aten::_pdist_forward.out"),
        what="Half and BFloat16 are accepted with every norm, and computed in Float.",
        reason="PyTorch supports them in cdist with norm 2 only. Kernels support the same dtypes with all norms.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _has(call, _HALVES),
        example=lambda: Call("aten::_cdist_forward.out", (*[torch.ones(3, 3, dtype=torch.float16)] * 2, 1.0, None), {}),
    ),
    Departure(
        name="negative norms",
        operators=("aten::_pdist_forward.out",),
        what="A negative p is rejected.",
        reason="ExecuTorch's kernel and PyTorch's cdist reject it.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not [*call.args[1:], *call.kwargs.values()][0] >= 0,
        example=lambda: Call("aten::_pdist_forward.out", (torch.ones(3, 3), -2.5), {}),
    ),
    Departure(
        name="rank in pdist",
        operators=("aten::_pdist_forward.out",),
        what="A tensor with another number of dimensions than two is rejected.",
        reason="ExecuTorch's kernel rejects it. PyTorch ignores all sizes after the first two.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.tensors[0].dim() != 2,
        example=lambda: Call("aten::_pdist_forward.out", (torch.ones(3, 3, 1), 2.0), {}),
    ),
    Departure(
        name="bias of another dtype in convolution",
        operators=("aten::convolution.out",),
        what="A bias of any real dtype is accepted and converted to the input's dtype.",
        reason="ExecuTorch's kernel does the same. PyTorch accepts some dtypes, depending on the library that it "
        "calls.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.args[2] is not None and call.args[2].dtype != call.dtype,
        example=lambda: Call(
            "aten::convolution.out",
            (*(torch.ones(2, 2, 5).bfloat16(),) * 2, torch.ones(2), [1], [0], [1], False, [0], 1),
            {},
        ),
        depends_on_processor=True,
    ),
    Departure(
        name="bias of Bool in convolution",
        operators=("aten::convolution.out",),
        what="A bias of Bool is rejected.",
        reason="ExecuTorch's kernel rejects it. PyTorch rejects it, except with some of the libraries that it calls.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[2] is not None and call.args[2].dtype == torch.bool,
        example=lambda: Call(
            "aten::convolution.out",
            (torch.ones(1, 3, 4), torch.ones(3, 3, 3), torch.ones(3).bool(), [2], [2], [1], True, [0], 1),
            {},
        ),
    ),
    Departure(
        name="ranges of halves in histograms",
        operators=("aten::histogram.bin_ct_out",),
        what="Half and BFloat16 are accepted without a range, too.",
        reason="PyTorch supports them with a range only.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _has(call, _HALVES) and call.kwargs["range"] is None,
        example=lambda: Call(
            "aten::histogram.bin_ct_out",
            (torch.ones(9, dtype=torch.float16), 4),
            {"range": None, "weight": None, "density": False},
        ),
    ),
    Departure(
        name="cumulative sums as Bools",
        operators=("aten::cumprod.out", "aten::cumsum.out"),
        what="Bool is rejected as the dtype of the result.",
        reason="PyTorch also rejects Bool, except for tensors without dimensions.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.tensors[0].dim() == 0 and call.kwargs["dtype"] == torch.bool,
        example=lambda: Call("aten::cumsum.out", (torch.tensor(True), 0), {"dtype": torch.bool}),
    ),
    Departure(
        name="divisors much less than the dividend",
        operators=("aten::fmod.Scalar_out", "aten::fmod.Tensor_out"),
        what="The remainder is exact.",
        reason="PyTorch's vectorized loops give NaN for a denormal divisor, and where the quotient has more digits "
        "than a Double.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: _has_huge_quotients(call),
        example=lambda: Call("aten::fmod.Scalar_out", (torch.ones(40), 1e-45), {}),
    ),
    Departure(
        name="dtype of the values in index_put",
        operators=("aten::index_put.out", "aten::index_put_"),
        what="Values of another dtype than the tensor's are rejected.",
        reason="ExecuTorch's kernels reject them. PyTorch accepts one value with a mask, as in `masked_fill`.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[2].dtype != call.args[0].dtype,
        example=lambda: Call(
            "aten::index_put.out", (torch.ones(2), [torch.tensor([True, False])], torch.tensor(2), False), {}
        ),
    ),
    Departure(
        name="infinite weights in group norm",
        operators=("aten::native_group_norm.out",),
        what="Results of an infinite weight are infinite, or NaN where the normalized element is 0.",
        reason="PyTorch multiplies the mean by the weight, and subtracts infinity from infinity.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: call.args[1] is not None and not bool(call.args[1].isfinite().all()),
        example=lambda: Call(
            "aten::native_group_norm.out",
            (torch.arange(6.0).reshape(1, 2, 3), torch.tensor([math.inf, 1.0]), None, 1, 2, 3, 1, 1e-5),
            {},
        ),
    ),
    Departure(
        name="the shape of allclose's result",
        operators=("aten::allclose.out",),
        what="The out tensor has any shape of one element.",
        reason="ExecuTorch's kernel accepts any such tensor. PyTorch's result has no dimensions.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: call.out_sizes is not None and math.prod(call.out_sizes) == 1,
        example=lambda: Call(
            "aten::allclose.out",
            (torch.ones(2), torch.ones(2), 1e-5, 1e-8, False, False),
            {},
            out_sizes=(1,),
            static=True,
        ),
    ),
    Departure(
        name="infinite means in layer norm",
        operators=("aten::native_layer_norm.out",),
        what="The mean of an infinite element and finite ones is infinite.",
        reason="PyTorch gives NaN: its means of parts of the elements are added with the squares of their differences.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: bool(torch.isinf(call.tensors[0]).any()),
        example=lambda: Call(
            "aten::native_layer_norm.out",
            (torch.tensor([[[-math.inf, -1.75, -4.25], [-2.5, -8.0, 3.5]]]).half(), [1, 2, 3], None, None, 0.5),
            {},
        ),
    ),
    Departure(
        name="infinity in gelu",
        operators=("aten::gelu.out",),
        what="The result for infinity is infinity.",
        reason="PyTorch gives NaN in vectorized loops, and infinity in others.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: bool(torch.isposinf(call.tensors[0]).any()),
        example=lambda: Call("aten::gelu.out", (torch.full((64,), float("inf")),), {}),
        depends_on_processor=True,
    ),
    Departure(
        name="wide unsigned integers in index_put_",
        operators=("aten::index_put_",),
        what="UInt16, UInt32 and UInt64 are accepted.",
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
        what="A tensor whose first two sizes are not N and C is rejected.",
        reason="ExecuTorch's kernel rejects it. PyTorch checks the number of elements only.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: list(call.tensors[0].shape[:2]) != [*call.args[3:5]],
        example=lambda: Call("aten::native_group_norm.out", (torch.ones(6, 3), None, None, 1, 6, 3, 2, 0.5), {}),
    ),
    Departure(
        name="conjugates of real numbers",
        operators=("aten::_conj_physical.out",),
        what="Only complex dtypes are accepted.",
        reason="ExecuTorch's kernel supports no other dtype. PyTorch copies real numbers.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not call.dtype.is_complex,
        example=lambda: Call("aten::_conj_physical.out", (torch.ones(2),), {}),
        refused=frozenset(inputs.MOVABLE_DTYPES) - _COMPLEX,
    ),
    Departure(
        name="Fourier transforms of huge values",
        operators=_FOURIER,
        what="The results of lines with infinities, NaNs and huge values differ.",
        reason="The errors of all results of a line depend on its largest values. PyTorch's own results depend on its "
        "library.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: not bool((call.tensors[0].abs() < 1e3).all()),
        example=lambda: Call("aten::_fft_r2c.out", (torch.tensor([0.0, math.inf, 0.0, 0.0]), [0], 0, True), {}),
        depends_on_processor=True,
    ),
    Departure(
        name="Fourier transforms without lines",
        operators=("aten::_fft_c2c.out",),
        what="Tensors without lines are accepted.",
        reason="The result has no elements. PyTorch's library refuses a transform without lines.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.tensors[0].numel() == 0,
        example=lambda: Call("aten::_fft_c2c.out", (torch.ones(0, 4, dtype=torch.complex64), [1], 0, True), {}),
    ),
    Departure(
        name="copies between devices",
        operators=("et_copy::_d2h_copy.out", "et_copy::_h2d_copy.out"),
        what="Two tensors on the CPU are rejected.",
        reason="One of the tensors must be on a device. The run of this page has no device.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: True,
        example=lambda: Call("et_copy::_h2d_copy.out", (torch.ones(2),), {}),
        refused=frozenset(inputs.MOVABLE_DTYPES),
    ),
    Departure(
        name="modes of grid_sampler_2d",
        operators=("aten::grid_sampler_2d.out", "aten::grid_sampler_3d.out"),
        what="Unknown modes of interpolation and padding are rejected.",
        reason="PyTorch checks the modes in torch.nn.functional only, and takes an unknown one for another.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[2] not in range(7 - call.args[0].dim()) or call.args[3] not in range(3),
        example=lambda: Call(
            "aten::grid_sampler_2d.out", (torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2), 0, 3, False), {}
        ),
    ),
    Departure(
        name="the least integer as alpha",
        operators=("aten::rsub.Scalar_out", "aten::sub.Scalar_out", "aten::sub.out"),
        what="A difference of floats with the alpha -2^63 has the mathematically correct sign.",
        reason="PyTorch negates alpha as a Long, which wraps around.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: -(2**63) in (call.kwargs.get("alpha"), *call.args[2:]),
        example=lambda: Call("aten::sub.Scalar_out", (_ints(2), -1.0, -(2**63)), {}),
    ),
    Departure(
        name="integers in nearest upsampling",
        operators=("aten::upsample_nearest2d.vec_out",),
        what="All real dtypes and Bool are accepted.",
        reason="The kernel only moves elements. PyTorch supports no integers except Byte.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: not call.dtype.is_floating_point,
        example=lambda: Call("aten::upsample_nearest2d.vec_out", (_ints(1, 1, 2, 2), [3, 3], None), {}),
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
        reason="ExecuTorch's kernels do the same. PyTorch requires at least one index.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: all(index is None for index in call.args[1]),
        example=lambda: Call("aten::index.Tensor_out", (torch.ones(2, 3), [None]), {}),
    ),
    Departure(
        name="large exponents",
        operators=("aten::pow.Tensor_Scalar_out",),
        what="The exponent has the dtype of the floats: an odd exponent that the dtype cannot represent becomes even.",
        reason="ExecuTorch's kernel also rounds the exponent. PyTorch keeps a Double.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: abs(call.args[1]) > 1 << 24,
        example=lambda: Call("aten::pow.Tensor_Scalar_out", (torch.full((8,), -2.0), (1 << 31) - 1), {}),
    ),
    Departure(
        name="variances of huge values",
        operators=("aten::var.correction_out", "aten::var.out", "aten::var_mean.correction_out"),
        what="A variance outside of the range of the dtype is infinite.",
        reason="The kernel adds squares in Double; PyTorch adds some in Float, where infinities become NaN.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: bool(call.tensors[0].abs().max() > torch.finfo(call.dtype).max ** 0.5),
        example=lambda: Call(
            "aten::var.correction_out",
            (torch.tensor([1.0, -1.0] * 8) * torch.finfo(torch.float32).max, None),
            {"correction": 0, "keepdim": False},
        ),
    ),
    Departure(
        name="exponents beyond a dtype",
        operators=("aten::pow.Tensor_Scalar_out",),
        what="The exponent of integers has their dtype: larger exponents wrap around. The exponent of Half and "
        "BFloat16 is a Float.",
        reason="ExecuTorch's kernel does the same. PyTorch rejects some of these exponents.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: _is_beyond(call.args[1], call.dtype),
        example=lambda: Call("aten::pow.Tensor_Scalar_out", (_ints(2), 1 << 62), {}),
    ),
    Departure(
        name="dtypes in native_dropout",
        operators=("aten::native_dropout.out",),
        what="Complex numbers and unsigned integers of 16 to 64 bits are rejected.",
        reason="ExecuTorch's kernel accepts them only if no element is dropped. Here, the support of a dtype does "
        "not depend on values.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: _has(call, _COMPLEX | _UNSIGNED),
        example=lambda: Call("aten::native_dropout.out", (torch.ones(2, dtype=torch.complex64), 0.5, True), {}),
        refused=_COMPLEX | _UNSIGNED,
    ),
    Departure(
        name="order of products",
        operators=("aten::prod.int_out", "aten::prod.out"),
        what="A product of floats may be infinite, 0 or NaN if PyTorch's product is finite or another one of these "
        "values.",
        reason="Products of some of the factors are infinite or 0 in one order and not in another. PyTorch's order is "
        "that of the machine's vectors.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: _has_infinite_products(call),
        example=lambda: Call(
            "aten::prod.out", (torch.tensor([100.0, 100, -100, -100]).repeat_interleave(4).repeat(2).exp2(),), {}
        ),
    ),
    Departure(
        name="parameters of batch norm",
        operators=(
            "aten::_native_batch_norm_legit.no_stats_out",
            "aten::_native_batch_norm_legit.out",
            "aten::_native_batch_norm_legit_no_training.out",
        ),
        what="A weight, bias, mean or variance with another number of elements than one for each channel is rejected.",
        reason="PyTorch reads beyond such a tensor in some memory layouts.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: any(list(p.shape) != [call.tensors[0].shape[1]] for p in call.tensors[1:]),
        example=lambda: Call(
            "aten::_native_batch_norm_legit_no_training.out",
            (torch.ones(1, 3, 2), torch.ones(()), torch.ones(3), torch.ones(3), torch.ones(3), 0.1, 1e-5),
            {},
        ),
    ),
    Departure(
        name="infinite weights in the gradient of a convolution",
        operators=("aten::convolution_backward.out",),
        what="If the weights contain infinity or NaN, the gradient of the input may contain NaN near the borders.",
        reason="The kernel multiplies weights by the zeros around the gradient of the result. PyTorch omits these "
        "products.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: not bool(call.args[2].isfinite().all()),
        example=lambda: Call(
            "aten::convolution_backward.out",
            (
                *(torch.ones(1, 4, 4, 4), torch.ones(1, 4, 6, 6), torch.full((4, 4, 3, 3), math.inf), [4]),
                *([1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True] * 3),
            ),
            {},
        ),
    ),
    Departure(
        name="allclose without memory",
        operators=("aten::allclose.Tensor",),
        what="Every call fails with NotSupported.",
        reason="The variant without an out argument has no memory for its result. ExecuTorch's kernel aborts the "
        "program.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: True,
        example=lambda: Call("aten::allclose.Tensor", (torch.ones(2), torch.ones(2), 1e-5, 1e-8, False, False), {}),
        refused=frozenset(inputs.MOVABLE_DTYPES),
    ),
    Departure(
        name="differences in allclose",
        operators=("aten::allclose.out",),
        what="Differences of Half and BFloat16 stay finite.",
        reason="PyTorch rounds the differences to these dtypes, which may give infinity.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: _has(call, _HALVES),
        example=lambda: Call(
            "aten::allclose.out",
            (torch.tensor(65504).half(), torch.tensor(-65504).half(), 0.0, 1e300, False, False),
            {},
        ),
    ),
    Departure(
        name="dtypes of sums of quantized values",
        operators=("quantized_decomposed::add.out",),
        what="Values of Byte's range are accepted in every integer dtype.",
        reason="ExecuTorch's kernel accepts them. PyTorch rejects Long, and the value 255 for Char.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: not call.dtype.is_floating_point,
        example=lambda: Call("quantized_decomposed::add.out", _addends(torch.ones(2, dtype=torch.int64), 0, 255), {}),
    ),
    Departure(
        name="ranges of sums of quantized values",
        operators=("quantized_decomposed::add.out",),
        what="An empty range, or a range that exceeds that of Byte, is rejected.",
        reason="ExecuTorch's kernel computes with Bytes, and rejects other ranges.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: any(not 0 <= call.args[i] <= call.args[i + 1] <= 255 for i in (3, 8, 12)),
        example=lambda: Call("quantized_decomposed::add.out", _addends(_ints(2), -1, 100), {}),
    ),
    Departure(
        name="dtypes of addends of quantized values",
        operators=("quantized_decomposed::add.out",),
        what="Addends of two dtypes are rejected.",
        reason="ExecuTorch's kernel rejects them. PyTorch does not check the dtype of the second addend.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[5].dtype != call.dtype,
        example=lambda: Call(
            "quantized_decomposed::add.out",
            (*_addends(_ints(2).char(), 0, 9)[:5], torch.ones(2).byte(), *_addends(_ints(2), 0, 9)[6:]),
            {},
        ),
    ),
    Departure(
        name="ranges of quantized values",
        operators=_QUANTIZE,
        what="A bound of the range that the dtype cannot represent is rejected.",
        reason="ExecuTorch's kernels reject it. PyTorch checks one bound only.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not _has_ends(*call.args[-3:]),
        example=lambda: Call(
            "quantized_decomposed::quantize_per_tensor.out", (torch.ones(2), 0.1, 3, 0, -2, torch.uint16), {}
        ),
    ),
    Departure(
        name="scales of mixed_linear",
        operators=("quantized_decomposed::mixed_linear.out",),
        what="Other scales than one for each row of the weights, or one for each group of a row, are rejected.",
        reason="ExecuTorch's kernel rejects them. PyTorch broadcasts one scale.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.args[2].shape[:1] != call.args[1].shape[:1],
        example=lambda: Call(
            "quantized_decomposed::mixed_linear.out",
            (torch.ones(3, 4), torch.ones(5, 4, dtype=torch.int8), torch.ones(1), None, None),
            {},
        ),
    ),
    Departure(
        name="zero points of small dtypes",
        operators=("quantized_decomposed::dequantize_per_channel.out",),
        what="The difference of a value and a zero point is exact.",
        reason="PyTorch's difference of integers of 8 or 16 bits wraps around.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: (
            call.args[2] is not None
            and torch.promote_types(call.dtype, call.args[2].dtype) in (torch.uint8, torch.int8, torch.int16)
        ),
        example=lambda: Call(
            "quantized_decomposed::dequantize_per_channel.out",
            (torch.ones(1, 1).byte(), torch.ones(1), torch.tensor([2]).byte(), 0, 0, 255, torch.uint8, None),
            {},
        ),
    ),
    Departure(
        name="integers without parameters",
        operators=("quantized_decomposed::choose_qparams_per_token_asymmetric.out",),
        what="Only floats are accepted.",
        reason="The operator computes the parameters of floats. ExecuTorch's kernel supports Float only.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not call.dtype.is_floating_point,
        example=lambda: Call(
            "quantized_decomposed::choose_qparams_per_token_asymmetric.out", (_ints(2, 3), torch.int8), {}
        ),
        refused=frozenset(inputs.MOVABLE_DTYPES) - frozenset(inputs.FLOAT_DTYPES),
    ),
    Departure(
        name="parameters of infinite values",
        operators=(
            "quantized_decomposed::choose_qparams.Tensor_out",
            "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
        ),
        what="The zero point is within the range of quantized values.",
        reason="PyTorch converts NaN to an integer, which is undefined.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: not _is_finite(call) or any(isinstance(v, float) and math.isnan(v) for v in call.args),
        example=lambda: Call(
            "quantized_decomposed::choose_qparams.Tensor_out",
            (torch.tensor([math.inf, -math.inf]), -128, 127, 1e-7, torch.int8),
            {},
        ),
    ),
    Departure(
        name="values of other dtypes than those of quantized values",
        operators=("quantized_decomposed::dequantize_per_token.out",),
        what="Only Byte, Char, Short, Int and UInt16 are accepted.",
        reason="ExecuTorch's kernel supports no other dtype. PyTorch does not check the dtype.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.dtype not in _QUANTIZED or call.args[5] != call.dtype,
        example=lambda: Call("quantized_decomposed::dequantize_per_token.out", _tokens(torch.ones(2, 3)), {}),
        refused=frozenset(inputs.MOVABLE_DTYPES) - _QUANTIZED,
    ),
    Departure(
        name="UInt16 as quantized values",
        operators=(
            "quantized_decomposed::dequantize_per_channel.out",
            "quantized_decomposed::dequantize_per_token.out",
        ),
        what="UInt16 is accepted.",
        reason="ExecuTorch's kernels support it. PyTorch has no differences of UInt16.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.dtype == torch.uint16,
        example=lambda: Call(
            "quantized_decomposed::dequantize_per_token.out",
            _tokens(torch.ones(2, 3, dtype=torch.uint16)),
            {},
            out_dtype=torch.float32,
        ),
    ),
    Departure(
        name="scales of tokens in one dimension",
        operators=("quantized_decomposed::dequantize_per_token.out", "quantized_decomposed::quantize_per_token.out"),
        what="Scales and zero points of all tokens may be tensors of one dimension.",
        reason="PyTorch's documentation allows such tensors. PyTorch's operators do not broadcast them as documented.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.args[1].dim() == 1,
        example=lambda: Call(
            "quantized_decomposed::dequantize_per_token.out",
            (torch.ones(2, 3, dtype=torch.int8), torch.ones(2), _ints(2), -128, 127, torch.int8, torch.float32),
            {},
            out_dtype=torch.float32,
        ),
    ),
    Departure(
        name="Ints as quantized values",
        operators=(
            "quantized_decomposed::dequantize_per_channel.out",
            "quantized_decomposed::dequantize_per_token.out",
        ),
        what="The difference of an Int and a zero point is exact.",
        reason="PyTorch computes in Float, which has 24 bits, if the scales are Float.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: call.dtype == torch.int32,
        example=lambda: Call(
            "quantized_decomposed::dequantize_per_channel.out",
            (_ints(1, 1) * (2**30 + 1), torch.tensor([0.1]), _ints(1) * 2, 0, 0, 2**31 - 1, torch.int32, torch.float64),
            {},
        ),
    ),
    Departure(
        name="Char as packed weights",
        operators=tuple(
            f"quantized_decomposed::embedding_{bits}bit.{overload}"
            for bits in (2, 4)
            for overload in ("dtype_out", "out")
        ),
        what="Only Byte is accepted.",
        reason="ExecuTorch's exporter packs weights of less than a byte in Bytes, and ExecuTorch's kernels support "
        "no other dtype.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: call.dtype == torch.int8,
        example=lambda: Call(
            "quantized_decomposed::embedding_4bit.out",
            (torch.ones(2, 4, dtype=torch.int8), torch.ones(2), None, -8, 7, torch.tensor([1])),
            {},
        ),
        refused=frozenset({torch.int8}),
    ),
    Departure(
        name="Double as values to quantize",
        operators=_QUANTIZE,
        what="Double is accepted, and computed in Float.",
        reason="ExecuTorch's kernels support Double. PyTorch rejects it.",
        outcome=Outcome.KERNEL_ACCEPTS,
        applies=lambda call, _: call.dtype == torch.float64,
        example=lambda: Call(
            "quantized_decomposed::quantize_per_tensor.out",
            (torch.ones(2).double(), 0.1, 3, -128, 127, torch.int8),
            {},
            out_dtype=torch.int8,
        ),
    ),
    Departure(
        name="values that no integer stands for",
        operators=_QUANTIZE,
        what="NaN becomes quant_min, and a value beyond Int's range the end of the range.",
        reason="PyTorch's conversion of such values to integers is undefined.",
        outcome=Outcome.WRONG,
        applies=lambda call, _: not _is_finite(call) or torch.int32 in call.args,
        example=lambda: Call(
            "quantized_decomposed::quantize_per_tensor.out",
            (torch.full((40,), math.nan), 0.1, 3, 5, 100, torch.int8),
            {},
        ),
    ),
    Departure(
        name="parameters of quantization",
        operators=_PARAMETERS_IN_TENSORS,
        what="Scales must be Float or Double, one for each channel or token, or any floats where there is one for all "
        "values; zero points must be Byte, Char, Short, Int, Long, Float or Double, and as many. Both must be "
        "contiguous.",
        reason="ExecuTorch's kernels refuse other parameters; PyTorch takes what promotion and broadcasting make fit.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not _parameters_fit(call),
        example=lambda: Call(
            "quantized_decomposed::quantize_per_channel.out",
            (torch.ones(2, 3), torch.ones(3).half(), _ints(3), 1, -128, 127, torch.int8),
            {},
        ),
    ),
    Departure(
        name="values to quantize that are no floats",
        operators=("quantized_decomposed::quantize_per_token.out",),
        what="Only floats are accepted.",
        reason="ExecuTorch's kernel supports no other dtype. PyTorch does not check the dtype.",
        outcome=Outcome.KERNEL_REFUSES,
        applies=lambda call, _: not call.dtype.is_floating_point,
        example=lambda: Call(
            "quantized_decomposed::quantize_per_token.out", (*_tokens(_ints(2, 3))[:-2], torch.int8), {}
        ),
        refused=frozenset(inputs.MOVABLE_DTYPES) - frozenset(inputs.FLOAT_DTYPES),
    ),
)


def _parameters_fit(call: Call) -> bool:
    """Whether a kernel accepts the scales and zero points, which are tensors."""
    x, scales, zero_points, axis = call.args[:4]
    zero_points = torch.zeros_like(scales) if zero_points is None else zero_points
    count, dtypes = 1, set(inputs.FLOAT_DTYPES)
    if "per_channel" in call.operator:
        count, dtypes = (x.shape[axis] if -x.dim() <= axis < x.dim() else 0), {torch.float32, torch.float64}
    elif "per_token" in call.operator:
        count, dtypes = x.shape[:-1].numel(), {torch.float32, torch.float64}
    elif zero_points.is_floating_point():
        return False
    no_zero_points = {torch.bool, *_COMPLEX, *_UNSIGNED, *_HALVES}
    contiguous = all(inputs.dim_order_of(p) == tuple(range(p.dim())) for p in (scales, zero_points))
    return (
        (contiguous or count == 1)
        and scales.dtype in dtypes
        and zero_points.dtype not in no_zero_points
        and scales.numel() == zero_points.numel() == count
    )


def _has_ends(least: int, largest: int, dtype: torch.dtype) -> bool:
    """Whether both ends of a range are within the range of an integer dtype."""
    limits = torch.iinfo(dtype)
    return all(limits.min <= end <= limits.max for end in (least, largest))


def _is_finite(call: Call) -> bool:
    """Whether the largest value, the smallest value and their difference are finite."""
    values = call.tensors[0].to(torch.float32)
    return not values.numel() or bool((values.max() - values.min()).isfinite())


def _addends(values: torch.Tensor, least: int, largest: int) -> tuple[Any, ...]:
    """The arguments of a sum of quantized values."""
    return (values, 0.1, 3, least, largest, values, 0.1, 3, least, largest, 0.2, 3, least, largest)


def _tokens(values: torch.Tensor, dtype: torch.dtype = torch.float32) -> tuple[Any, ...]:
    """The arguments of a dequantization of two tokens with scales of dtype Float."""
    return (values, torch.full((2, 1), 0.1), torch.ones(2, 1).long(), -128, 127, values.dtype, dtype)


def _has_infinite_products(call: Call) -> bool:
    """Whether a product of some elements overflows to infinity or underflows to 0."""
    dtype = call.kwargs.get("dtype") or call.out_dtype or call.dtype
    if not dtype.is_floating_point:
        return False
    limits, logarithms = torch.finfo(dtype), call.tensors[0].double().abs().log2()
    logarithms = logarithms[logarithms.isfinite()]
    largest, least = logarithms.clamp(min=0).sum(), logarithms.clamp(max=0).sum()
    return bool(largest > math.log2(limits.max) or least < math.log2(limits.tiny))


def _has_huge_quotients(call: Call) -> bool:
    """Whether a quotient has more digits than Double, or a divisor is denormal in Float."""
    x, divisor = call.tensors[0].double().abs(), torch.as_tensor(call.args[1]).double().abs()
    is_tiny = (divisor > 0) & (divisor < torch.finfo(torch.float32).tiny)
    return bool(is_tiny.any() or (x.max() / divisor[divisor > 0].min() > 2**52))


def _is_beyond(number: int | float | bool, dtype: torch.dtype) -> bool:
    """Whether a number is out of the range of an integer dtype, Half or BFloat16."""
    if dtype in _HALVES:
        return abs(number) > torch.finfo(dtype).max
    if dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
        return False
    return not torch.iinfo(dtype).min <= number <= torch.iinfo(dtype).max


def _ints(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.int32)
