"""The ExecuTorch runtime for the target platform, or an error that says how to get one; and the headers for any platform."""

load(":toolchain_types.bzl", "HEADERS_TOOLCHAIN_TYPE", "RUNTIME_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

NO_RUNTIME_ERR = """{label}: expected an ExecuTorch runtime for the platform {platform}; found none.

Likely cause: --platforms names a platform for which no executorch wheel has a runtime, such as Android, iOS or a microcontroller.
Fix: build ExecuTorch's runtime for the platform, declare it as an executorch_runtime_toolchain, and register the toolchain in
MODULE.bazel, as docs/platforms.md#a-runtime-of-your-own shows; build for this machine or for Linux on arm64; or compile the
program to C++, which needs no runtime (executorch_compiled_program).
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

def use_headers():
    """Returns the toolchains of a rule that calls `find_headers`."""
    return use_runtime() + [config_common.toolchain_type(HEADERS_TOOLCHAIN_TYPE, mandatory = False)]

def has_runtime(ctx):
    """Returns whether the target platform has a runtime.

    Args:
      ctx: of a rule with use_runtime().
    Returns:
      bool
    """
    return bool(ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE])

def find_headers(ctx):
    """Returns ExecuTorch's headers for kernels: those of the platform's runtime or, without a runtime, those of the wheel.

    Args:
      ctx: of a rule with use_headers() and the fragment `platform`.
    Returns:
      CcInfo
    """
    headers = ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE] or ctx.toolchains[HEADERS_TOOLCHAIN_TYPE]
    return (headers or find_runtime(ctx)).kernel_includes
