"""The size of the runtime's operator registry."""

visibility(["//rules/...", "//runtime/tests"])

# MAX_KERNEL_NUM of ExecuTorch's own build: 250 operators with 8 kernels each.
DEFAULT_MAX_KERNELS = 2000
