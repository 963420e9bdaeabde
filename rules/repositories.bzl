"""Macros for WORKSPACE, in place of the module extension in extensions.bzl."""

load("//rules/private/repositories:bazel_version.bzl", "check_bazel_version")
load("//rules/private/repositories:repositories.bzl", "declare_repositories")

def executorch_repositories(runtime = {}, python = {}, codegen_python = {}):
    """Declares the repositories of the rules. Call this macro in WORKSPACE, and then executorch_register_toolchains().

    Args:
      runtime: dict of attributes, as in the module extension's tag `runtime`.
      python: dict of attributes, as in the module extension's tag `python`.
      codegen_python: dict of attributes, as in the module extension's tag `codegen_python`.
    """
    check_bazel_version(native.bazel_version)
    declare_repositories(
        runtime = runtime,
        python = python,
        codegen_python = codegen_python,
    )

# buildifier: disable=unnamed-macro
def executorch_register_toolchains():
    """Registers toolchains: the code generator, the wheels' runtime and PyTorch, the machine's Python. Call it last in WORKSPACE."""
    native.register_toolchains(
        "@rules_executorch//codegen:toolchain",
        "@rules_executorch//runtime:toolchain",
        "@rules_executorch//runtime:linux_arm64_toolchain",
        "@rules_executorch//runtime:headers_toolchain",
        "@rules_executorch//runtime:torch_toolchain",
        "@executorch_host_python//:tools_toolchain",
        "@executorch_host_python//:toolchain",
    )
