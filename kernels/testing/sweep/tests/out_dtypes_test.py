"""Tests that operators of one tensor refuse the out dtypes that PyTorch refuses, unless ExecuTorch accepts them."""

import os
from typing import Any, NamedTuple

import torch
from absl.testing import absltest, parameterized

from kernels.testing import inputs
from kernels.testing.judge import OpTester
from kernels.testing.op_call import KernelError
from kernels.testing.references import reference
from kernels.testing.sweep.operators import read_operators

# These operators convert their results to other floating-point dtypes, as ExecuTorch's kernels do.
_CONVERTING = ("aten::var.correction_out", "aten::var.out", "aten::view_as_real_copy.out")
# PyTorch's out variant does not resize an out tensor without elements, as this test gives.
_NOT_RESIZED = ("aten::normal.Tensor_float_out",)

_COMMON_DTYPES = (torch.float32, torch.int64, torch.complex64)
_OTHER_VALUES = {"number": 1, "bool": False, "float": 0.5, "int": 0, "str": "none"}


class _Call(NamedTuple):
    """An operator of one tensor with its other arguments."""

    tester: OpTester
    args: list[Any]
    kwargs: dict[str, Any]

    def accepts(self, x: torch.Tensor, **kwargs: Any) -> bool:
        """Whether PyTorch accepts the call."""
        return self.tester.accepts(x, *self.args, **self.kwargs, **kwargs)


def _find_call(name: str) -> _Call | None:
    """A call of the operator. None if it has other tensors, or arguments without a known valid value."""
    tester = OpTester(name, **reference(name))
    given = [argument for argument in tester.eager.schema.arguments if not argument.is_out]
    if not given or str(given[0].type) != "Tensor" or len(tester.out_names) != 1 or tester.eager.out_is_list:
        return None
    call = _Call(tester, [], {})
    for argument in given[1:]:
        if argument.has_default_value():
            value = argument.default_value
        elif isinstance(argument.type, torch.OptionalType):
            value = None
        elif str(argument.type) in _OTHER_VALUES:
            value = _OTHER_VALUES[str(argument.type)]
        else:
            return None
        if argument.kwarg_only:
            call.kwargs[argument.name] = value
        else:
            call.args.append(value)
    takes_any = any(call.accepts(torch.ones((2, 2), dtype=dtype)) for dtype in _COMMON_DTYPES)
    # The operators of et_copy copy between devices, and this test has no second device.
    return call if takes_any and not name.startswith("et_copy::") else None


_NAMES = read_operators(os.environ["KERNEL_YAMLS"].split())
_CALLS = {name: call for name in _NAMES if name not in _NOT_RESIZED and (call := _find_call(name)) is not None}


class OutDtypesTest(parameterized.TestCase):
    @parameterized.parameters(*_CALLS)
    def test_operator(self, name: str) -> None:
        call = _CALLS[name]
        taken = 0
        for dtype in inputs.MOVABLE_DTYPES:
            x = torch.ones((2, 2), dtype=dtype)
            (natural,) = call.tester.expect(x, *call.args, **call.kwargs) if call.accepts(x) else [x]
            for out_dtype in inputs.MOVABLE_DTYPES:
                try:
                    call.tester.run(x, *call.args, **call.kwargs, outs=[natural.to(out_dtype)])
                except KernelError:
                    continue
                taken += 1
                if not (name in _CONVERTING and natural.dtype.is_floating_point):
                    self.assertTrue(call.accepts(x, out_dtype=out_dtype), f"{name}, {dtype} to {out_dtype}")
        self.assertGreater(taken, 0)

    def test_operators_are_found(self) -> None:
        self.assertGreater(len(_CALLS), 60)
        self.assertLessEqual({"aten::gelu.out", "aten::isnan.out", "aten::rsub.Scalar_out"}, {*_CALLS})


if __name__ == "__main__":
    absltest.main()
