"""Generates the Python module and the type stub of an executorch_python_library."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence

from codegen.model import kernel_keys
from codegen.model.execution_plan import Content, ExecutionPlan, List, Tensor, Value
from diagnostics.errors import Finding

# NumPy's names of dtypes.
_DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "Bool": "bool",
    "BFloat16": "bfloat16",
    "UInt16": "uint16",
    "UInt32": "uint32",
    "UInt64": "uint64",
}
_OWN_NAMES = frozenset({"Program", "set_threads"})
_STUB = '''\
"""{title}"""

from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

class Dlpack(Protocol):
    """An array of any library, such as a tensor of PyTorch, in the memory of the CPU."""

    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class Program:
    """The program with a state of its own.

    With copy=False, results are read-only arrays in the memory of the program, which the next call overwrites.
    """

    def __init__(self, *, copy: bool = True) -> None: ...
{methods}
def set_threads(count: int) -> None:
    """Sets the number of threads of one run, before the first run. Default: one for each processor."""

{functions}'''


def mistakes(label: str, name: str, content: Content) -> list[Finding]:
    """Returns findings for what a Python module of a name cannot have."""
    found = []
    if not _is_name(name):
        found.append(
            Finding(
                id="no-python-name",
                where=label,
                found=f"the module cannot have the name '{name}'",
                cause="the target's name is the module's, and has other characters or is a word of Python",
                fix="give the target a name of letters, digits and _",
            )
        )
    return found + [finding for plan in content.plans for finding in _mistakes(label, plan)]


def module(title: str, base: str, content: Content) -> str:
    """Returns the module.

    Args:
        title: the docstring.
        base: the text of runtime/python/program_module.py.
        content: the program.
    """
    parts = [f'"""{title}"""\n\n', base[base.index("from __future__") :], "\n\n_METHODS = {\n"]
    for plan in content.plans:
        parts += [f'    "{plan.name}": _Method(\n        "{plan.name}",\n']
        written = set(_results(plan))
        for indices in (plan.inputs, plan.outputs):
            parts += ["        [\n"]
            parts += [f"            {_described(plan.values[i], is_written=i in written)},\n" for i in indices]
            parts += ["        ],\n"]
        parts += ["    ),\n"]
    parts += ['}\n\n\nclass Program(_Program):\n    """The program with a state of its own."""\n']
    for plan in content.plans:
        parts += [
            f"\n    def {plan.name}(self, *inputs: Any) -> Any:\n"
            f'        return self._run(_METHODS["{plan.name}"], inputs)\n'
        ]
    for plan in content.plans:
        parts += [
            f"\n\ndef {plan.name}(*inputs: Any) -> Any:\n"
            f'    return _default_program()._run(_METHODS["{plan.name}"], inputs)\n'
        ]
    return "".join(parts)


def stub(title: str, content: Content) -> str:
    """Returns the stub, with the types of the inputs and outputs of each method."""
    return _STUB.format(
        title=title,
        functions="\n".join(_function(plan, "", "") for plan in content.plans),
        methods="".join(_function(plan, "self, ", "    ") for plan in content.plans),
    )


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _mistakes(label: str, plan: ExecutionPlan) -> Iterator[Finding]:
    if not _is_name(plan.name) or plan.name in _OWN_NAMES or plan.name.startswith("_"):
        yield Finding(
            id="no-python-name",
            where=label,
            found=f"the method '{plan.name}' cannot be a function of the module",
            cause="the name is a word of Python, begins with _, or is the module's own Program or set_threads",
            fix="rename the method in what get_model() of the model file returns",
        )
    for index in (*plan.inputs, *plan.outputs):
        value = plan.values[index]
        if isinstance(value, Tensor) and kernel_keys.dtype_name(value.dtype) not in _DTYPES:
            yield Finding(
                id="no-numpy-dtype",
                where=label,
                found=f"method {plan.name} has a tensor of {kernel_keys.dtype_name(value.dtype)}, which NumPy lacks",
                cause="the model takes or returns a tensor of a dtype of PyTorch alone",
                fix="convert the tensor in forward(), e.g. by .to(torch.float32)",
            )


def _results(plan: ExecutionPlan) -> Iterator[int]:
    """Yields the values to which calls of kernels write: the last value of a call, or the tensors in that list."""
    for instruction in plan.instructions:
        if instruction.kind == "KernelCall" and instruction.numbers:
            last = plan.values[instruction.numbers[-1]]
            yield from map(int, last.items) if isinstance(last, List) else instruction.numbers[-1:]


def _described(value: Value, *, is_written: bool) -> str:
    if not isinstance(value, Tensor):
        return f"_Value({value!r})"
    flags = ", is_dynamic=True" if value.is_dynamic else ""
    flags += ", is_written=True" if is_written and value.place is None else ""
    return f'_Tensor("{_dtype(value)}", {tuple(value.sizes)}, {tuple(value.dim_order)}{flags})'


def _dtype(tensor: Tensor) -> str:
    return _DTYPES[kernel_keys.dtype_name(tensor.dtype)]


def _function(plan: ExecutionPlan, first: str, indent: str) -> str:
    parameters = "".join(
        f"input{i}: {_type(plan.values[index], is_input=True)}, " for i, index in enumerate(plan.inputs)
    )
    outputs = [_type(plan.values[index]) for index in plan.outputs]
    result = outputs[0] if len(outputs) == 1 else f"tuple[{', '.join(outputs) or '()'}]"
    slash = "/" if parameters or first else ""
    return (
        f"{indent}def {plan.name}({first}{parameters}{slash}) -> {result}:\n"
        f'{indent}    """{_signature(plan.values, plan.inputs)} -> {_signature(plan.values, plan.outputs)}"""\n'
    )


def _type(value: Value, *, is_input: bool = False) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__ if value is not None else "None"
    array = (
        f"NDArray[numpy.{_dtype(value).replace('bool', 'bool_')}]" if _dtype(value) != "bfloat16" else "NDArray[Any]"
    )
    return f"{array} | Dlpack" if is_input else array


def _signature(values: Sequence[Value], indices: Sequence[int]) -> str:
    texts = []
    for value in (values[index] for index in indices):
        if isinstance(value, Tensor):
            at_most = "at most " if value.is_dynamic else ""
            texts.append(f"{_dtype(value)} {at_most}{list(value.sizes)}")
        else:
            texts.append(repr(value))
    return ", ".join(texts) or "nothing"
