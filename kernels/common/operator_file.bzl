"""What the lists of operators of the kernel libraries are made of."""

def operator_file(operators, common):
    """One file of kernels, `op_<name>.cpp`.

    Args:
      operators: names of the operators it implements, with their namespace.
      common: names of the targets of kernels/common that it includes.

    Returns:
      A struct of these.
    """
    return struct(operators = operators, common = common)
