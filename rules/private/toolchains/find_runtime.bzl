"""The ExecuTorch runtime for the target platform, or an error that says how to get one."""

load(":toolchain_types.bzl", "RUNTIME_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

NO_RUNTIME_ERR = """{label}: expected an ExecuTorch runtime for the platform {platform}; found none.

Likely cause: --platforms names a platform for which no executorch wheel has a runtime, such as Android, iOS or a microcontroller.
Fix: build ExecuTorch's runtime for the platform, declare it as an executorch_runtime_toolchain, and register the toolchain in
MODULE.bazel, as docs/platforms.md#a-runtime-of-your-own shows; or build for this machine or for Linux on arm64.
See: docs/errors.md#no-runtime"""

def use_runtime():
    """Returns the toolchains of a rule that calls `find_runtime`. The rule also needs the fragment `platform`."""
    return [config_common.toolchain_type(RUNTIME_TOOLCHAIN_TYPE, mandatory = False)]

def find_runtime(ctx):
    """Returns the runtime for the target platform.

    Args:
      ctx: of a rule with use_runtime() and the fragment `platform`.
    Returns:
      ToolchainInfo of an executorch_runtime_toolchain
    """
    runtime = ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE]
    if not runtime:
        fail(NO_RUNTIME_ERR.format(label = ctx.label, platform = ctx.fragments.platform.platform))
    return runtime
