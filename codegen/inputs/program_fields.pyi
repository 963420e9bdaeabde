"""What the code generator knows of the format of programs; written in the build, from ExecuTorch's own schema."""

# The number of each field in its table: `Tensor.DimOrder`.
FIELDS: dict[str, int]
# The number of each kind of value, and of instruction.
VALUES: dict[str, int]
INSTRUCTIONS: dict[str, int]
PROGRAM_IDENTIFIER: bytes
BUNDLED_PROGRAM_IDENTIFIER: bytes
