"""Rule torch_op_wheel."""

load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS")
load("//rules/private/actions:param_file.bzl", "one_line_each")
load("//rules/private/providers:torch_op_info.bzl", "TorchOpInfo")
load(":executorch_python_wheel.bzl", "WHEEL_ATTRS", "write_wheel")

visibility(["//rules/..."])

WHEEL_OF_ATEN_ERR = """{label}: attribute library: expected a library with the stable ABI; {library} has api = "aten".

Likely cause: only the version of PyTorch of this build loads the library, and pip would install the wheel with each version.
Fix: set api = "stable" of {library}, and write its kernels with torch/csrc/stable.
See: docs/errors.md#wheel-of-aten"""

def _torch_op_wheel_impl(ctx):
    oldest = ctx.attr.torch_library[TorchOpInfo].oldest_torch
    if not oldest:
        fail(WHEEL_OF_ATEN_ERR.format(label = ctx.label, library = ctx.attr.torch_library.label))
    return write_wheel(ctx, one_line_each(ctx, "requires") or ["torch>=" + oldest])

torch_op_wheel = rule(
    doc = "A wheel of a `torch_op_library` with the stable ABI.",
    implementation = _torch_op_wheel_impl,
    attrs = WHEEL_ATTRS | {
        "library": attr.label(
            doc = "The py_library that loads the library.",
            mandatory = True,
        ),
        "requires": attr.string_list(
            doc = "The packages that pip installs with the wheel. Default: PyTorch from the library's `torch_target_version` on.",
        ),
        "summary": attr.string(
            doc = "One line that describes the package.",
            mandatory = True,
        ),
        "torch_library": attr.label(
            doc = "The library.",
            mandatory = True,
            providers = [TorchOpInfo],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
)
