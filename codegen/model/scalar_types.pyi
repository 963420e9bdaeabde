"""The dtypes of ExecuTorch's runtime. The build writes the module from the runtime's own header."""

# Each dtype's number by its name, in the order of the numbers: Float is 6.
SCALAR_TYPES: dict[str, int]
