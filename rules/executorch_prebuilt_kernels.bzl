"""executorch_prebuilt_kernels: a prebuilt library with a list of its registered operators."""

load("//rules/private/executorch:executorch_prebuilt_kernels.bzl", _executorch_prebuilt_kernels = "executorch_prebuilt_kernels")

executorch_prebuilt_kernels = _executorch_prebuilt_kernels
