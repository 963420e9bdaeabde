"""The cases of kernels_bench: each operator with 1 MB of float32, contiguous, strided and broadcast.

Some operators also have cases with complex numbers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml

from kernels.testing import inputs, op_tester

CONTIGUOUS, STRIDED, BROADCAST, COMPLEX = "contiguous", "strided", "broadcast", "complex"

# The limit of a kernel's time, relative to eager.
LIMITS: Mapping[str, float] = {CONTIGUOUS: 2, STRIDED: 4, BROADCAST: 4, COMPLEX: 4}

# The cases that exceed the limit, with the reasons.
EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("_cdist_forward.out", CONTIGUOUS): (
        "the kernel adds squared differences; PyTorch multiplies the matrices, which loses digits by cancellation"
    ),
}

# Operators without a case, with the reasons.
NOT_TIMED: Mapping[str, str] = {
    "et_copy::_d2h_copy.out": "PyTorch has no such operator, and the tensors are on another device",
    "et_copy::_h2d_copy.out": "PyTorch has no such operator, and the tensors are on another device",
    "cholesky.out": "random matrices are not positive definite",
    "linalg_cholesky_ex.L": "random matrices are not positive definite",
    "searchsorted.Tensor_out": "random sequences are not sorted",
    "searchsorted.Scalar_out": "random sequences are not sorted",
    "bucketize.Tensor_out": "random sequences are not sorted",
    "bucketize.Scalar_out": "random sequences are not sorted",
}


@dataclasses.dataclass(frozen=True)
class Values:
    """A tensor of random numbers in [low, high).

    If reversed, the first dimension is the innermost in memory; of four dimensions, the second one (channels last).
    """

    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32
    low: float = -3
    high: float = 3
    is_reversed: bool = False

    def tensor(self, generator: torch.Generator) -> torch.Tensor:
        values = torch.rand(self.shape, generator=generator) * (self.high - self.low) + self.low
        if self.dtype == torch.bool:
            values = values.floor()  # With floor(), all integers have the same frequency, also 0.
        elif self.dtype.is_complex:
            values = torch.complex(values, values.flip(0))
        order = inputs.dim_orders(len(self.shape))[1] if self.is_reversed else range(len(self.shape))
        return op_tester.with_dim_order(values.to(self.dtype), order)


@dataclasses.dataclass(frozen=True)
class Case:
    """An operator with arguments.

    Attributes:
      title: the title in the table.
      operator: the name of the kernel.
      arguments: the operator's arguments without `out`. A shape stands for a tensor of normally distributed elements,
        Values for other tensors. Both may be in lists.
      keywords: the keyword-only arguments.
      dtype: the dtype of tensors that are given as shapes.
      has_out: whether to measure PyTorch's out variant. If false, the functional variant is measured.
    """

    title: str
    operator: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    dtype: torch.dtype = torch.float32
    has_out: bool = True

    @property
    def is_defined(self) -> bool:
        """Whether PyTorch's out variant always has correct results. One is wrong for channels last."""
        return not re.search(
            r"empty|rand|normal|uniform|exponential|multinomial|dropout|batch_norm_legit\.", self.operator
        )

    def inputs(self) -> list[Any]:
        """Returns the arguments, which are the same in each process."""
        return self._tensors(self.arguments, torch.Generator().manual_seed(0))

    def tester(self) -> op_tester.OpTester:
        """Returns the tester that compares with PyTorch. For operators of dim orders, it has other references."""
        if self.operator not in _DIM_ORDER_OPERATORS:
            return op_tester.OpTester(self.operator)
        schema, reference = _DIM_ORDER_OPERATORS[self.operator]
        return op_tester.OpTester(self.operator, schema=self.operator + schema, reference=reference)

    def _tensors(self, arguments: Sequence[Any], generator: torch.Generator) -> list[Any]:
        results: list[Any] = []
        for argument in arguments:
            if isinstance(argument, tuple):
                results.append(torch.randn(argument, generator=generator).to(self.dtype))
            elif isinstance(argument, Values):
                results.append(argument.tensor(generator))
            elif isinstance(argument, list):
                results.append(self._tensors(argument, generator))
            else:
                results.append(argument)
        return results


_DIM_ORDER_OPERATORS: Mapping[str, tuple[str, Callable[..., torch.Tensor]]] = {
    "dim_order_ops::_clone_dim_order.out": (
        "(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
        lambda x, **_: torch.ops.aten.clone(x, memory_format=torch.contiguous_format),
    ),
    "dim_order_ops::_empty_dim_order.out": (
        "(int[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
        lambda size, **_: torch.ops.aten.empty(size),
    ),
    "dim_order_ops::_to_dim_order_copy.out": (
        "(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
        lambda x, **_: torch.ops.aten._to_copy(x, memory_format=torch.contiguous_format),
    ),
}

# Shapes of 1 MB.
_CUBE = (8, 64, 512)
_MATRIX = (512, 512)
_IMAGE = (1, 64, 64, 64)
_VOLUME = (1, 8, 32, 32, 32)

_X = Values(_CUBE)
_M = Values(_MATRIX)
_COMPLEX = Values((8, 64, 256), torch.complex64)
_I = Values(_IMAGE)
_HALF_IMAGE = Values((1, 64, 32, 32))
_CHANNELS = Values((64,), low=0.5, high=1.5)
_FEATURES = Values((512,), low=0.5, high=1.5)
_MASK = Values(_CUBE, torch.bool, 0, 2)
_POSITIONS = Values((512,), torch.int64, 0, 512)
_POSITIONS_OF_ALL = Values(_MATRIX, torch.int64, 0, 512)
_SMALL_MATRICES = Values((256, 32, 32))

# Arguments of operators that need others than tensors of one shape and the numbers of `_NUMBERS`.
_ARGUMENTS: Mapping[str, tuple[Any, ...]] = {
    "_adaptive_avg_pool2d.out": (_I, [7, 7]),
    "_adaptive_avg_pool2d_backward.out": (Values((1, 64, 16, 16)), _I),
    "_adaptive_avg_pool3d.out": (Values(_VOLUME), [7, 7, 7]),
    "_cdist_forward.out": (Values((512, 128)), Values((512, 128)), 2.0, None),
    "_conj_physical.out": (_COMPLEX,),
    "_embedding_bag.out": (_M, _POSITIONS, Values((1,), torch.int64, 0, 1)),
    "_fft_c2c.out": (Values(_MATRIX, torch.complex64), [1], 0, True),
    "_fft_c2r.out": (Values((512, 257), torch.complex64), [1], 0, 512),
    "_fft_r2c.out": (_M, [1], 0, True),
    "_linalg_det.result": (_SMALL_MATRICES,),
    "_linalg_eigh.eigenvalues": (_SMALL_MATRICES,),
    "_linalg_slogdet.sign": (_SMALL_MATRICES,),
    "_linalg_solve_ex.result": (_SMALL_MATRICES, _SMALL_MATRICES),
    "_linalg_svd.U": (_SMALL_MATRICES,),
    "_log_softmax.out": (_M, -1, False),
    "_native_batch_norm_legit_no_training.out": (_I, _CHANNELS, _CHANNELS, _CHANNELS, _CHANNELS, 0.1, 1e-5),
    "_softmax.out": (_M, -1, False),
    "_upsample_bicubic2d_aa.out": (_I, [32, 32], False),
    "_upsample_bilinear2d_aa.out": (_I, [32, 32], False),
    "acos.out": (Values(_CUBE, low=-1, high=1),),
    "acosh.out": (Values(_CUBE, low=1, high=9),),
    "_native_batch_norm_legit.no_stats_out": (_I, _CHANNELS, _CHANNELS, True, 0.1, 1e-5),
    "_native_batch_norm_legit.out": (_I, _CHANNELS, _CHANNELS, _CHANNELS, _CHANNELS, True, 0.1, 1e-5),
    "_pdist_forward.out": (Values((512, 128)), 2.0),
    "adaptive_max_pool2d.out": (_I, [7, 7]),
    "adaptive_max_pool3d.out": (Values(_VOLUME), [7, 7, 7]),
    "addmm.out": (_FEATURES, _M, _M),
    "amax.out": (_M, [-1]),
    "amin.out": (_M, [-1]),
    "any.dims_out": (_M, [-1]),
    "any.out": (_M, -1),
    "arange.out": (262144,),
    "arange.start_out": (0, 262144, 1),
    "argmax.out": (_M, -1),
    "argmin.out": (_M, -1),
    "as_strided_copy.out": (_M, [512, 512], [1, 512]),
    "asin.out": (Values(_CUBE, low=-1, high=1),),
    "atanh.out": (Values(_CUBE, low=-1, high=1),),
    "avg_pool2d.out": (_I, [3, 3], [2, 2], [1, 1]),
    "avg_pool2d_backward.grad_input": (Values((1, 64, 32, 32)), _I, [2, 2], [2, 2], [0, 0], False, True, None),
    "avg_pool3d.out": (Values(_VOLUME), [3, 3, 3], [2, 2, 2], [1, 1, 1]),
    "bincount.out": (Values((131072,), torch.int64, 0, 100),),
    "bmm.out": (Values((4, 256, 256)), Values((4, 256, 256))),
    "cat.out": ([Values((8, 32, 512)), Values((8, 32, 512))], 1),
    "cholesky_solve.out": (_SMALL_MATRICES, _SMALL_MATRICES),
    "clamp.Tensor_out": (_X, Values(_CUBE, low=-2, high=0), Values(_CUBE, low=0, high=2)),
    "clamp.out": (_X, -1.0, 1.0),
    "constant_pad_nd.out": (_I, [1, 1, 1, 1], 0.0),
    "convolution.out": (_I, Values((64, 64, 3, 3)), _CHANNELS, [1], [1], [1], False, [0], 1),
    "convolution_backward.out": (
        _I, _I, Values((64, 64, 3, 3)), [64], [1], [1], [1], False, [0], 1, [True, True, True],
    ),
    "cummax.out": (_M, -1),
    "cummin.out": (_M, -1),
    "cumprod.out": (_M, -1),
    "cumsum.out": (_M, -1),
    "diagonal_copy.out": (_X,),
    "dim_order_ops::_empty_dim_order.out": ([*_CUBE],),
    "embedding.out": (_M, _POSITIONS),
    "empty.out": ([*_CUBE],),
    "erfinv.out": (Values(_CUBE, low=-1, high=1),),
    "expand_copy.out": (Values((8, 1, 512)), [*_CUBE]),
    "fill.Tensor_out": (_X, Values(())),
    "flip.out": (_M, [-1]),
    "fractional_max_pool2d.output": (_I, [2, 2], [32, 32], Values((1, 64, 2), low=0, high=1)),
    "full.out": ([*_CUBE], 2.5),
    "full_like.out": (_X, 2.5),
    "gather.out": (_M, -1, _POSITIONS_OF_ALL),
    "gcd.out": (Values(_CUBE, torch.int32, 0, 1000), Values(_CUBE, torch.int32, 0, 1000)),
    "glu.out": (_M, -1),
    "grid_sampler_2d.out": (_I, Values((1, 64, 64, 2), low=-1, high=1), 0, 0, False),
    "grid_sampler_3d.out": (Values(_VOLUME), Values((1, 32, 32, 32, 3), low=-1, high=1), 0, 0, False),
    "histc.out": (_M, 100, -3, 3),
    "histogram.bin_ct_out": (_M, 100),
    "index.Tensor_out": (_M, [_POSITIONS]),
    "index_put.out": (_M, [_POSITIONS], _M),
    "index_put_": (_M, [_POSITIONS], _M),
    "index_reduce.out": (_M, 0, _POSITIONS, _M, "amax"),
    "index_select.out": (_M, 0, _POSITIONS),
    "kthvalue.values": (_M, 100),
    "linalg_inv_ex.inverse": (_SMALL_MATRICES,),
    "linalg_lu.out": (_SMALL_MATRICES,),
    "linalg_lu_factor_ex.out": (_SMALL_MATRICES,),
    "linalg_lu_solve.out": (_SMALL_MATRICES, Values((256, 32), torch.int32, 1, 33), _SMALL_MATRICES),
    "linalg_matrix_exp.out": (_SMALL_MATRICES,),
    "linalg_qr.out": (_SMALL_MATRICES,),
    "linalg_solve_triangular.out": (_SMALL_MATRICES, _SMALL_MATRICES),
    "log.out": (Values(_CUBE, low=0, high=9),),
    "log10.out": (Values(_CUBE, low=0, high=9),),
    "log1p.out": (Values(_CUBE, low=-1, high=9),),
    "log2.out": (Values(_CUBE, low=0, high=9),),
    "logcumsumexp.out": (_M, -1),
    "logit.out": (Values(_CUBE, low=0, high=1), 1e-6),
    "masked_fill.Scalar_out": (_X, _MASK, 2.5),
    "masked_scatter.out": (_X, _MASK, _X),
    "masked_select.out": (_X, _MASK),
    "max.dim_max": (_M, -1),
    "max_pool2d_with_indices.out": (_I, [3, 3], [2, 2], [1, 1]),
    "max_pool2d_with_indices_backward.grad_input": (
        _HALF_IMAGE, _I, [2, 2], [2, 2], [0, 0], [1, 1], False, Values((1, 64, 32, 32), torch.int64, 0, 4096),
    ),
    "max_pool3d_with_indices.out": (Values(_VOLUME), [3, 3, 3], [2, 2, 2], [1, 1, 1]),
    "mean.out": (_M, [-1]),
    "median.dim_values": (_M, -1),
    "min.dim_min": (_M, -1),
    "mm.out": (_M, _M),
    "mode.values": (_M,),
    "multinomial.out": (Values(_MATRIX, low=0, high=1), 10),
    "nanmedian.dim_values": (_M, -1),
    "narrow_copy.out": (_M, 1, 1, 510),
    "native_dropout.out": (_X, 0.5, True),
    "native_group_norm.out": (_I, _CHANNELS, _CHANNELS, 1, 64, 4096, 8, 1e-5),
    "native_layer_norm.out": (_M, [512], _FEATURES, _FEATURES, 1e-5),
    "normal.Tensor_Tensor_out": (_X, Values(_CUBE, low=0, high=1)),
    "normal.Tensor_float_out": (_X, 2.0),
    "normal.float_Tensor_out": (0.5, Values(_CUBE, low=0, high=1)),
    "normal.float_float_out": (0.5, 2.0, [*_CUBE]),
    "ones.out": ([*_CUBE],),
    "permute_copy.out": (_X, [0, 2, 1]),
    "pixel_shuffle.out": (_I, 2),
    "pixel_unshuffle.out": (_I, 2),
    "pow.Tensor_Scalar_out": (Values(_CUBE, low=0, high=3), 2.5),
    "pow.Tensor_Tensor_out": (Values(_CUBE, low=0, high=3), _X),
    "prod.int_out": (_M, -1),
    "prod.out": (Values(_CUBE, low=0.9, high=1.1),),
    "rand.out": ([*_CUBE],),
    "randint.low_out": (3, 100, [*_CUBE]),
    "randint.out": (100, [*_CUBE]),
    "randint_like.low_dtype_out": (_X, 3, 100),
    "randint_like.out": (_X, 100),
    "randn.out": ([*_CUBE],),
    "randperm.out": (131072,),
    "reflection_pad1d.out": (Values((8, 32768)), [1, 1]),
    "reflection_pad2d.out": (_I, [1, 1, 1, 1]),
    "reflection_pad3d.out": (Values(_VOLUME), [1, 1, 1, 1, 1, 1]),
    "repeat.out": (Values((256, 512)), [2, 1]),
    "repeat_interleave.Tensor_out": (Values((65536,), torch.int64, 0, 4),),
    "replication_pad1d.out": (Values((8, 32768)), [1, 1]),
    "replication_pad2d.out": (_I, [1, 1, 1, 1]),
    "replication_pad3d.out": (Values(_VOLUME), [1, 1, 1, 1, 1, 1]),
    "roll.out": (_M, [3], [-1]),
    "rsqrt.out": (Values(_CUBE, low=0, high=9),),
    "scalar_tensor.out": (2.5,),
    "scatter.src_out": (_M, -1, _POSITIONS_OF_ALL, _M),
    "scatter.value_out": (_M, -1, _POSITIONS_OF_ALL, 2.5),
    "scatter_add.out": (_M, -1, _POSITIONS_OF_ALL, _M),
    "scatter_reduce.two_out": (_M, 0, _POSITIONS_OF_ALL, _M, "amax"),
    "select_copy.int_out": (Values((2, 512, 512)), 0, 1),
    "select_scatter.out": (_M, _FEATURES, 0, 3),
    "slice_copy.Tensor_out": (_M, 1, 1, 511, 1),
    "slice_scatter.out": (_M, Values((512, 510)), 1, 1, 511, 1),
    "split_copy.Tensor_out": (_M, 128, 1),
    "split_with_sizes_copy.out": (_M, [128, 384], 1),
    "sqrt.out": (Values(_CUBE, low=0, high=9),),
    "squeeze_copy.dim_out": (_I, 0),
    "squeeze_copy.dims_out": (_I, [0]),
    "stack.out": ([Values((8, 32, 512)), Values((8, 32, 512))], 1),
    "sum.IntList_out": (_M, [-1]),
    "t_copy.out": (_M,),
    "topk.values": (_M, 10),
    "transpose_copy.int_out": (_M, 0, 1),
    "tril.out": (_M,),
    "unbind_copy.int_out": (_X, 0),
    "unfold_copy.out": (_M, -1, 16, 16),
    "unique_dim.out": (Values((512, 4), torch.int64, 0, 8), 0),
    "unique_dim_consecutive.out": (Values((512, 4), torch.int64, 0, 8), 0),
    "unsqueeze_copy.out": (_X, 0),
    "upsample_bilinear2d.vec_out": (Values((1, 16, 64, 64)), [128, 128], False, None),
    "upsample_nearest2d.vec_out": (Values((1, 16, 64, 64)), [128, 128], None),
    "var.correction_out": (_M, [-1]),
    "var.out": (_M, [-1]),
    "var_mean.correction_out": (_M, [-1]),
    "view_as_complex_copy.out": (Values((8, 64, 256, 2)),),
    "view_as_real_copy.out": (_COMPLEX,),
    "view_copy.dtype_out": (_X, torch.int32),
    "view_copy.out": (_X, [512, 512]),
    "where.self_out": (_MASK, _X, _X),
    "zeros.out": ([*_CUBE],),
}  # fmt: skip

_KEYWORDS: Mapping[str, Mapping[str, Any]] = {
    "div.Scalar_mode_out": {"rounding_mode": "floor"},
    "div.out_mode": {"rounding_mode": "floor"},
    "linalg_solve_triangular.out": {"upper": True},
    "sort.values_stable": {"stable": True},
}

# Operators with cases of complex numbers.
_OF_COMPLEX = (
    "abs.out", "add.out", "bmm.out", "cat.out", "div.out", "gather.out", "mm.out", "mul.out", "permute_copy.out",
    "sub.out", "sum.IntList_out",
)  # fmt: skip

# Operators that PyTorch supports for contiguous tensors only.
_CONTIGUOUS_IN_PYTORCH = ("_pdist_forward.out",)

# The values of arguments without defaults that are not tensors.
_NUMBERS = {"other": 2.5, "value": 2.5, "exponent": 2.5, "self": 2.5}

# The arguments of operators in the broadcast case, in which one operand has other sizes.
_BROADCAST_ARGUMENTS = {
    "addmm.out": (Values((512, 1)), _M, _M),
    "clamp.Tensor_out": (_X, Values((64, 1), low=-2, high=0), Values((64, 1), low=0, high=2)),
    "copy.out": (_X, Values((64, 1))),
    "copy_": (_X, Values((64, 1))),
    "index_put.out": (_M, [_POSITIONS], _FEATURES),
    "index_put_": (_M, [_POSITIONS], _FEATURES),
    "masked_fill.Scalar_out": (_X, Values((64, 1), torch.bool, 0, 2), 2.5),
    "masked_scatter.out": (_X, Values((64, 1), torch.bool, 0, 2), _X),
    "masked_select.out": (_X, Values((64, 1), torch.bool, 0, 2)),
    "pow.Tensor_Tensor_out": (Values(_CUBE, low=0, high=3), Values((64, 1))),
    "where.self_out": (Values((64, 1), torch.bool, 0, 2), _X, Values((512,))),
}


def operators(functions: Path) -> list[str]:
    """Returns the operators of a functions.yaml. PyTorch's operators are without the namespace."""
    entries = yaml.safe_load(functions.read_text())
    return [entry["op"] if "op" in entry else entry["func"].partition("(")[0] for entry in entries]


def operator_cases(operator: str) -> Iterator[tuple[str, Case]]:
    """Yields the cases of an operator, such as "add.out" or "dim_order_ops::_clone_dim_order.out", with the layouts."""
    name = operator if "::" in operator else f"aten::{operator}"
    arguments = _ARGUMENTS[operator] if operator in _ARGUMENTS else _of_schema(name)

    def case(layout: str, arguments: tuple[Any, ...]) -> tuple[str, Case]:
        # PyTorch's out variant of a convolution copies the result of the functional variant.
        has_out = operator != "convolution.out"
        return layout, Case(f"{operator}, {layout}", name, arguments, _KEYWORDS.get(operator, {}), has_out=has_out)

    yield case(CONTIGUOUS, arguments)
    reversed_ = tuple(_reversed(argument) for argument in arguments)
    if reversed_ != arguments and operator not in _CONTIGUOUS_IN_PYTORCH:
        yield case(STRIDED, reversed_)
    if operator in _BROADCAST_ARGUMENTS:
        yield case(BROADCAST, _BROADCAST_ARGUMENTS[operator])
    elif operator not in _ARGUMENTS and len(arguments) == 2 and arguments[0] == arguments[1]:
        yield case(BROADCAST, (arguments[0], dataclasses.replace(arguments[1], shape=(64, 1))))
    if operator in _OF_COMPLEX:
        yield case(COMPLEX, tuple(_complex(argument) for argument in arguments))


def _of_schema(name: str) -> tuple[Any, ...]:
    """Returns arguments by the schema: tensors of 1 MB and numbers. Arguments with defaults are left out."""
    tester = Case("", name, ()).tester()
    # PyTorch supports these operators for integers only.
    x = Values(_CUBE, torch.int32, 0, 8) if name.startswith("aten::bitwise_") else _X
    results: list[Any] = []
    for argument in tester.eager.schema.arguments:
        if argument.is_out or argument.has_default_value() or argument.kwarg_only:
            break
        results.append(x if str(argument.type) == "Tensor" else _NUMBERS[argument.name])
        if results[-1] == 2.5 and x.dtype == torch.int32:
            results[-1] = 2
    return tuple(results)


def _complex(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_complex(item) for item in argument]
    if isinstance(argument, Values) and argument.dtype == torch.float32:
        return dataclasses.replace(argument, dtype=torch.complex64)
    return argument


def _reversed(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_reversed(item) for item in argument]
    if isinstance(argument, Values) and len(argument.shape) > 1:
        return dataclasses.replace(argument, is_reversed=True)
    return argument
