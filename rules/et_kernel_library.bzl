"""et_kernel_library: kernels, and the operators that each file implements."""

load("//rules/private/executorch:et_kernel_library.bzl", _et_kernel_library = "et_kernel_library")

et_kernel_library = _et_kernel_library
