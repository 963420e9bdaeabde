"""The WORKSPACE twin of the module extension in extensions.bzl."""

load("//rules/private/repositories:bazel_version.bzl", "check_bazel_version")
load("//rules/private/repositories:repositories.bzl", "declare_repositories")

def executorch_repositories(runtime = {}, python = {}, codegen_python = {}):
    """Declares what the rules need: call it in WORKSPACE, then executorch_register_toolchains().

    Args:
      runtime: dict of attributes as the module extension's `runtime` tag has.
      python: dict of attributes as the module extension's `python` tag has.
      codegen_python: dict of attributes as the module extension's `codegen_python` tag has.
    """
    check_bazel_version(native.bazel_version)
    declare_repositories(
        runtime = runtime,
        python = python,
        codegen_python = codegen_python,
    )

# buildifier: disable=unnamed-macro
def executorch_register_toolchains():
    """Registers the code generator, the wheels' runtime and PyTorch, and the machine's Python: call it last in WORKSPACE."""
    native.register_toolchains(
        "@rules_executorch//codegen:toolchain",
        "@rules_executorch//runtime:toolchain",
        "@rules_executorch//runtime:linux_arm64_toolchain",
        "@rules_executorch//runtime:torch_toolchain",
        "@executorch_host_python//:toolchain",
    )
