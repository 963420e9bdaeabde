"""The elements of tensors in C++."""

from __future__ import annotations

from typing import NamedTuple

from codegen.model import scalar_types


class Element(NamedTuple):
    """The element of a dtype.

    Attributes:
        name: the dtype in PyTorch's spelling.
        cpp: the C++ type. Half and bfloat16 have the type of their bits, since C++17 has no such types.
        size: the size in bytes.
        format: the format of module `struct`; empty for bfloat16 and complex numbers, which have none.
    """

    name: str
    cpp: str
    size: int
    format: str

    @property
    def is_complex(self) -> bool:
        """Whether the element is a complex number."""
        return self.name.startswith("complex")


_BY_NAME = {
    "Byte": Element("uint8", "uint8_t", 1, "B"),
    "Char": Element("int8", "int8_t", 1, "b"),
    "Short": Element("int16", "int16_t", 2, "h"),
    "Int": Element("int32", "int32_t", 4, "i"),
    "Long": Element("int64", "int64_t", 8, "q"),
    "Half": Element("float16", "uint16_t", 2, "e"),
    "Float": Element("float32", "float", 4, "f"),
    "Double": Element("float64", "double", 8, "d"),
    "Bool": Element("bool", "bool", 1, "?"),
    "BFloat16": Element("bfloat16", "uint16_t", 2, ""),
    "ComplexFloat": Element("complex64", "std::complex<float>", 8, ""),
    "ComplexDouble": Element("complex128", "std::complex<double>", 16, ""),
    "UInt16": Element("uint16", "uint16_t", 2, "H"),
    "UInt32": Element("uint32", "uint32_t", 4, "I"),
    "UInt64": Element("uint64", "uint64_t", 8, "Q"),
}

# By the number of the dtype.
ELEMENTS = {
    scalar_types.SCALAR_TYPES[name]: element for name, element in _BY_NAME.items() if name in scalar_types.SCALAR_TYPES
}

# The sizes of elements that have no C++ type here, in bytes. All others of these have one byte.
_OTHER_SIZES = {"Bits16": 2, "ComplexHalf": 4, "QInt32": 4}
_OTHERS = {
    number: (name, _OTHER_SIZES.get(name, 1))
    for name, number in scalar_types.SCALAR_TYPES.items()
    if number not in ELEMENTS
}


def name_and_size(dtype: int) -> tuple[str, int]:
    """Returns the name of a dtype, and the size of an element in bytes."""
    element = ELEMENTS.get(dtype)
    return (element.name, element.size) if element else _OTHERS[dtype]
