"""The interface for C: functions and an object for each method, on top of the C++ class."""

from __future__ import annotations

from codegen.compiled import constants, interface
from codegen.compiled.interface import Function, Port
from codegen.compiled.method import Method

_STATUS = "compiled_program_status"
# The 64-bit words of ExecuTorch's TensorImpl and of a member of the class, at most.
_TENSOR_WORDS = 10
_SCRATCH_WORDS = 3


def memory_bytes(method: Method) -> int:
    """Returns the size of the planned memory as a type of C++."""
    return sum(map(aligned, method.own_memories)) or 1


def aligned(size: int) -> int:
    """Returns the size of an aligned array of C++, which is not empty."""
    return -(-max(size, 1) // constants.ALIGNMENT) * constants.ALIGNMENT


def object_words(method: Method) -> int:
    """Returns a bound of the size of an object of the class, in words of 64 bits."""
    ranks = sum(len(method.tensor(index).sizes) for index in method.dynamic)
    results = sum(bool(port.private) for port in interface.ports(method))
    return method.memory_count + _SCRATCH_WORDS + results + ranks + _TENSOR_WORDS * len(method.dynamic)


def sizes(method: Method, prefix: str) -> str:
    """Returns the enumerators for the sizes of inputs and outputs in bytes."""
    ports = interface.ports(method)
    return "".join(f"  {prefix}_{port.name}_bytes = {port.nbytes},\n" for port in ports if port.nbytes is not None)


def declarations(method: Method, prefix: str) -> str:
    """Returns the declarations of the functions for inputs and outputs."""
    return "".join(_declarations(port, prefix) for port in interface.ports(method))


def _declarations(port: Port, prefix: str) -> str:
    functions = "".join(f"{_head(function, prefix)};\n" for function in port.functions)
    return f"\n// {port.comment}\n{functions}"


def definitions(method: Method, prefix: str) -> str:
    """Returns the definitions of these functions."""
    return "".join(_definition(function, prefix) for port in interface.ports(method) for function in port.functions)


def _definition(function: Function, prefix: str) -> str:
    call = f"of(self).{function.name}({function.argument})"
    result = f"of({call})" if function.type == interface.STATUS else call
    return f"\n{_head(function, prefix)} {{ return {result}; }}\n"


def _head(function: Function, prefix: str) -> str:
    type_ = _STATUS if function.type == interface.STATUS else function.type
    parameters = [f"{'const ' if function.is_const else ''}{prefix}* self"]
    parameters += [function.c_parameter] if function.c_parameter else []
    return f"{type_} {prefix}_{function.name}({', '.join(parameters)})"
