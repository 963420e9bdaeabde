"""executorch_prebuilt_kernels: what a prebuilt library registers."""

load("//rules/private/executorch:executorch_prebuilt_kernels.bzl", _executorch_prebuilt_kernels = "executorch_prebuilt_kernels")

executorch_prebuilt_kernels = _executorch_prebuilt_kernels
