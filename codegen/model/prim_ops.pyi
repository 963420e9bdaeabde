"""The operators that ExecuTorch's runtime brings itself: a program may use them, and no library provides them.

The build writes the module from what a program that is linked with the runtime alone registers.
"""

# By full name: aten::sym_size.int.
PRIM_OPS: frozenset[str]
