"""Toolchains: executorch_runtime_toolchain for a runtime of your own, executorch_torch_toolchain for a libtorch."""

load(
    "//rules/private/toolchains:toolchains.bzl",
    _executorch_codegen_toolchain = "executorch_codegen_toolchain",
    _executorch_runtime_component = "executorch_runtime_component",
    _executorch_runtime_toolchain = "executorch_runtime_toolchain",
    _executorch_torch_component = "executorch_torch_component",
    _executorch_torch_toolchain = "executorch_torch_toolchain",
)

executorch_codegen_toolchain = _executorch_codegen_toolchain
executorch_runtime_component = _executorch_runtime_component
executorch_runtime_toolchain = _executorch_runtime_toolchain
executorch_torch_component = _executorch_torch_component
executorch_torch_toolchain = _executorch_torch_toolchain
