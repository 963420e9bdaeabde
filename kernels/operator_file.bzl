"""What the lists of operators of the kernel libraries are made of."""

def operator_file(operators, deps):
    """One file of kernels, `op_<name>.cpp`.

    Args:
      operators: names of the operators it implements, with their namespace.
      deps: the libraries of kernels/ whose headers it includes, besides simd: `room:library`, or `room`.

    Returns:
      A struct of these.
    """
    return struct(operators = operators, deps = deps)
