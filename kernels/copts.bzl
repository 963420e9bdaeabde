"""The compiler options of kernels."""

KERNEL_COPTS = [
    # Kernels do not use errno and floating-point exceptions. Without them, loops with square roots and selections are
    # vectorized.
    "-fno-math-errno",
    "-fno-trapping-math",
    # Integer overflow wraps around.
    "-fwrapv",
]
