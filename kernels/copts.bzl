"""How kernels are compiled."""

KERNEL_COPTS = [
    # Nobody looks at errno or at floating-point exceptions after a kernel: without them, loops with square roots and
    # selections are vectorized.
    "-fno-math-errno",
    "-fno-trapping-math",
    # Integers that overflow wrap around.
    "-fwrapv",
]
