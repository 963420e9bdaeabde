"""The entries of the operator lists of kernel libraries."""

def operator_file(operators, deps):
    """The entry of a file of kernels, `op_<name>.cpp`.

    Args:
      operators: names of the operators that the file implements, with their namespaces.
      deps: the libraries of kernels/ whose headers the file includes, without simd: `room:library`, or `room`.

    Returns:
      A struct with these fields.
    """
    return struct(operators = operators, deps = deps)
