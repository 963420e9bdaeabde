"""The members of the class for inputs and outputs."""

from __future__ import annotations

from typing import NamedTuple

from codegen.compiled.method import CONSTANTS, Method
from codegen.model.execution_plan import List, Place, Tensor


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


def members(method: Method) -> Members:
    """Returns the members for all inputs and outputs of a method."""
    parts = [_input(method, i, index) for i, index in enumerate(method.plan.inputs)]
    parts += [_output(method, i, index) for i, index in enumerate(method.plan.outputs)]
    return Members(*("".join(texts) for texts in zip(*parts, strict=True))) if parts else Members("", "", "", "")


def shape(method: Method, index: int) -> str:
    """Returns the dtype and the sizes of a tensor for comments and reports, with `<=` before a bound."""
    tensor = method.tensor(index)
    bound = "<= " if index in method.dynamic else ""
    return f"{method.element(index).name} [{', '.join(f'{bound}{size}' for size in tensor.sizes)}]"


def _input(method: Method, number: int, index: int) -> Members:
    name = f"input{number}"
    if not isinstance(method.plan.values[index], Tensor):
        return _constant(method, name, index)
    place = method.place(index)
    const = "const " if place.memory == CONSTANTS else ""
    public = _header_of(method, name, index)
    public += _pointer(f"{const}{method.element(index).cpp}", name, _address(place), "")
    definitions = ""
    if index in method.dynamic:
        public += f"  compiled_program::Status resize_{name}(const int32_t (&sizes)[{_rank(method, index)}]);\n"
        definitions = (
            f"\ncompiled_program::Status {method.class_name}::resize_{name}"
            f"(const int32_t (&sizes)[{_rank(method, index)}]) {{\n"
            f"  return status_of(resize(dynamic_[{method.dynamic[index]}], sizes), -1);\n}}\n"
        )
    public, definitions = _shared(method, name, index, public, definitions)
    return Members(public, "", definitions, "")


def _output(method: Method, number: int, given: int) -> Members:
    name = f"output{number}"
    index = method.resolved(given)
    if not isinstance(method.plan.values[index], Tensor) or index in method.numbers:
        if index in method.numbers:
            type_ = method.numbers[index]
            public = f"\n  /// {type_}\n  {type_} {name}() const {{ return {name}_; }}\n"
            return Members(public, f"  {type_} {name}_ = 0;\n", "", f"  {name}_ = {method.number(index).text};\n")
        return _constant(method, name, index)
    type_ = f"const {method.element(index).cpp}"
    public = _header_of(method, name, index)
    if index in method.moved:
        public += _pointer(type_, name, f"{name}_", " const")
        result = f"  {name}_ = address(*tensor{index}, memories_);\n"
        return Members(public, f"  const void* {name}_ = nullptr;\n", "", result)
    place = method.place(index)
    if index in method.dynamic:
        # A view has the place of its tensor only after the call.
        public += _pointer(type_, name, f"dynamic_[{method.dynamic[index]}].data()", " const")
    else:
        public += _pointer(type_, name, _address(place), " const")
    public, definitions = _shared(method, name, index, public, "")
    return Members(public, "", definitions, "")


def _constant(method: Method, name: str, index: int) -> Members:
    """An input or output that the export made a constant has a comment only."""
    value = method.plan.values[index]
    if isinstance(value, List):
        raise method.error(f"{name} is a list", "the program was damaged", "export the program again")
    return Members(f"\n  // {name} is always {value!r}.\n", "", "", "")


def _header_of(method: Method, name: str, index: int) -> str:
    return f"\n  /// {shape(method, index)}\n  static constexpr size_t k{name.title()}Bytes = {method.nbytes(index)};\n"


def _pointer(type_: str, name: str, address: str, const: str) -> str:
    cast = "static_cast" if address.endswith(("_", "data()")) else "reinterpret_cast"
    return f"  {type_}* {name}(){const} {{ return {cast}<{type_}*>({address}); }}\n"


def _address(place: Place) -> str:
    offset = f" + {place.offset}" if place.offset else ""
    return f"memories_[{place.memory}]{offset}"


def _shared(method: Method, name: str, index: int, public: str, definitions: str) -> tuple[str, str]:
    """Adds the members that inputs and outputs have alike."""
    class_ = method.class_name
    if index in method.dynamic:
        public += f"  const int32_t* {name}_sizes() const;\n"
        definitions += (
            f"\nconst int32_t* {class_}::{name}_sizes() const {{\n"
            f"  return dynamic_[{method.dynamic[index]}].sizes().data();\n}}\n"
        )
    if index in method.set_by_caller:
        type_ = method.element(index).cpp
        public += f"  void set_{name}({type_}* elements);\n"
        data = f"  dynamic_[{method.dynamic[index]}].set_data(elements);\n" if index in method.dynamic else ""
        definitions += (
            f"\nvoid {class_}::set_{name}({type_}* elements) {{\n"
            f"  memories_[{method.set_by_caller[index]}] = reinterpret_cast<uint8_t*>(elements);\n{data}}}\n"
        )
    return public, definitions


def _rank(method: Method, index: int) -> int:
    return len(method.tensor(index).sizes)
