"""The dtypes of ExecuTorch's runtime."""

visibility(["//rules/..."])

# The names in runtime/core/portable_type/scalar_type.h. //rules/tests:scalar_type_test compares them. The numbers of the dtypes are
# in the code generator.
_NAMES = [
    "Byte",
    "Char",
    "Short",
    "Int",
    "Long",
    "Half",
    "Float",
    "Double",
    "ComplexHalf",
    "ComplexFloat",
    "ComplexDouble",
    "Bool",
    "QInt8",
    "QUInt8",
    "QInt32",
    "BFloat16",
    "QUInt4x2",
    "QUInt2x4",
    "Bits1x8",
    "Bits2x4",
    "Bits4x2",
    "Bits8",
    "Bits16",
    "Float8_e5m2",
    "Float8_e4m3fn",
    "Float8_e5m2fnuz",
    "Float8_e4m3fnuz",
    "UInt16",
    "UInt32",
    "UInt64",
]

# buildifier: disable=name-conventions
ScalarType = struct(**{name: name for name in _NAMES})
