"""The members of the class for inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from codegen.compiled import input_sizes
from codegen.compiled.method import CONSTANTS, Method
from codegen.model.execution_plan import List, Place, Tensor

STATUS = "compiled_program::Status"


class Function(NamedTuple):
    """A member function for an input or an output.

    Attributes:
        type: the type of the result.
        name: the name.
        body: for the class, the expression that the function returns; for the source file, statements.
        parameter: the parameter; empty if there is none.
        c_parameter: the parameter in C.
        argument: the C++ expression for the parameter in C.
        is_const: whether the function is const.
        is_inline: whether the class has the definition.
    """

    type: str
    name: str
    body: str
    parameter: str = ""
    c_parameter: str = ""
    argument: str = ""
    is_const: bool = False
    is_inline: bool = False

    @property
    def _head(self) -> str:
        return f"{self.name}({self.parameter}){' const' if self.is_const else ''}"

    @property
    def member(self) -> str:
        return f"  {self.type} {self._head}" + (f" {{ return {self.body}; }}\n" if self.is_inline else ";\n")

    def definition(self, class_name: str) -> str:
        return "" if self.is_inline else f"\n{self.type} {class_name}::{self._head} {{\n{self.body}}}\n"


class Port(NamedTuple):
    """An input or an output.

    Attributes:
        name: the name, `input0`.
        comment: the dtype and the sizes of a tensor, the type of a number, or the constant that the export made of it.
        nbytes: the size of a tensor in bytes; None for other values.
        functions: the member functions; none for a constant.
        private: the data members.
        result: the statements at the end of run().
    """

    name: str
    comment: str
    nbytes: int | None = None
    functions: tuple[Function, ...] = ()
    private: str = ""
    result: str = ""


class Members(NamedTuple):
    """Texts for the templates.

    Attributes:
        public: declarations and inline definitions.
        private: the data members.
        definitions: definitions for the source file.
        results: the statements at the end of run().
    """

    public: str
    private: str
    definitions: str
    results: str


def ports(method: Method) -> list[Port]:
    """Returns the inputs and outputs of a method."""
    inputs = [_input(method, f"input{i}", index) for i, index in enumerate(method.plan.inputs)]
    outputs = [_output(method, f"output{i}", method.resolved(index)) for i, index in enumerate(method.plan.outputs)]
    return inputs + outputs


def members(method: Method) -> Members:
    """Returns the members for all inputs and outputs of a method."""
    all_ports = ports(method)
    return Members(
        "".join(map(_public, all_ports)),
        "".join(port.private for port in all_ports),
        "".join(function.definition(method.class_name) for port in all_ports for function in port.functions),
        "".join(port.result for port in all_ports),
    )


def _public(port: Port) -> str:
    if not port.functions:
        return f"\n  // {port.comment}\n"
    constant = ""
    if port.nbytes is not None:
        constant = f"  static constexpr size_t k{port.name.title()}Bytes = {port.nbytes};\n"
    return f"\n  /// {port.comment}\n{constant}{''.join(function.member for function in port.functions)}"


def shape(method: Method, index: int) -> str:
    """Returns the dtype and the sizes of a tensor for comments and reports, with `<=` before a bound."""
    tensor = method.tensor(index)
    bound = "<= " if index in method.dynamic else ""
    return f"{method.element(index).name} [{', '.join(f'{bound}{size}' for size in tensor.sizes)}]"


def _input(method: Method, name: str, index: int) -> Port:
    if not isinstance(method.plan.values[index], Tensor):
        return _constant(method, name, index)
    place = method.place(index)
    const = "const " if place.memory == CONSTANTS else ""
    functions = [_pointer(f"{const}{method.element(index).cpp}", name, _address(place))]
    if index in method.dynamic:
        rank = len(method.tensor(index).sizes)
        functions.append(
            Function(
                STATUS,
                f"resize_{name}",
                f"{input_sizes.of_input(method, index)}"
                f"  return status_of(resize(dynamic_[{method.dynamic[index]}], sizes), -1);\n",
                parameter=f"const int32_t (&sizes)[{rank}]",
                c_parameter=f"const int32_t sizes[{rank}]",
                argument=f"*reinterpret_cast<const int32_t (*)[{rank}]>(sizes)",
            )
        )
    functions += _common(method, name, index)
    return Port(name, shape(method, index), method.nbytes(index), tuple(functions))


def _output(method: Method, name: str, index: int) -> Port:
    if index in method.numbers:
        type_ = method.numbers[index]
        function = Function(type_, name, f"{name}_", is_const=True, is_inline=True)
        result = f"  {name}_ = {method.number(index).text};\n"
        return Port(name, type_, None, (function,), f"  {type_} {name}_ = 0;\n", result)
    if not isinstance(method.plan.values[index], Tensor):
        return _constant(method, name, index)
    type_ = f"const {method.element(index).cpp}"
    about = (name, shape(method, index), method.nbytes(index))
    if index in method.moved:
        result = f"  {name}_ = address(*tensor{index}, memories_);\n"
        pointer = _pointer(type_, name, f"{name}_", is_const=True)
        return Port(*about, (pointer,), f"  const void* {name}_ = nullptr;\n", result)
    # A view with dynamic sizes has the place of its tensor only after the call.
    is_dynamic = index in method.dynamic
    address = f"dynamic_[{method.dynamic[index]}].data()" if is_dynamic else _address(method.place(index))
    return Port(*about, (_pointer(type_, name, address, is_const=True), *_common(method, name, index)))


def _constant(method: Method, name: str, index: int) -> Port:
    """An input or output that the export made a constant has a comment only."""
    value = method.plan.values[index]
    if isinstance(value, List):
        raise method.damaged(f"{name} is a list")
    return Port(name, f"{name} is always {value!r}.")


def _pointer(type_: str, name: str, address: str, *, is_const: bool = False) -> Function:
    cast = "static_cast" if address.endswith(("_", "data()")) else "reinterpret_cast"
    return Function(f"{type_}*", name, f"{cast}<{type_}*>({address})", is_const=is_const, is_inline=True)


def _address(place: Place) -> str:
    offset = f" + {place.offset}" if place.offset else ""
    return f"memories_[{place.memory}]{offset}"


def _common(method: Method, name: str, index: int) -> Iterator[Function]:
    """Yields the functions that inputs and outputs have alike."""
    if index in method.dynamic:
        sizes = f"  return dynamic_[{method.dynamic[index]}].sizes().data();\n"
        yield Function("const int32_t*", f"{name}_sizes", sizes, is_const=True)
    if index in method.set_by_caller:
        type_ = method.element(index).cpp
        data = f"  dynamic_[{method.dynamic[index]}].set_data(elements);\n" if index in method.dynamic else ""
        body = f"  memories_[{method.set_by_caller[index]}] = reinterpret_cast<uint8_t*>(elements);\n{data}"
        parameter = f"{type_}* elements"
        yield Function("void", f"set_{name}", body, parameter, parameter, "elements")
