"""Toolchain rules: executorch_runtime_toolchain for your own runtime, executorch_torch_toolchain for your own libtorch."""

load("//rules/private/toolchains:codegen_toolchain.bzl", _executorch_codegen_toolchain = "executorch_codegen_toolchain")
load("//rules/private/toolchains:runtime_component.bzl", _executorch_runtime_component = "executorch_runtime_component")
load("//rules/private/toolchains:runtime_toolchain.bzl", _executorch_runtime_toolchain = "executorch_runtime_toolchain")
load("//rules/private/toolchains:torch_component.bzl", _executorch_torch_component = "executorch_torch_component")
load("//rules/private/toolchains:torch_toolchain.bzl", _executorch_torch_toolchain = "executorch_torch_toolchain")

executorch_codegen_toolchain = _executorch_codegen_toolchain
executorch_runtime_component = _executorch_runtime_component
executorch_runtime_toolchain = _executorch_runtime_toolchain
executorch_torch_component = _executorch_torch_component
executorch_torch_toolchain = _executorch_torch_toolchain
