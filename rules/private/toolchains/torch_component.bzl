"""Rule executorch_torch_component."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":toolchain_types.bzl", "TORCH_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

def _executorch_torch_component_impl(ctx):
    toolchain = ctx.toolchains[TORCH_TOOLCHAIN_TYPE]
    return [
        DefaultInfo(runfiles = toolchain.default_runfiles if ctx.attr.component == "libtorch" else ctx.runfiles()),
        getattr(toolchain, ctx.attr.component),
    ]

executorch_torch_component = rule(
    doc = "A part of PyTorch for C++, from the resolved toolchain, as a C++ library.",
    implementation = _executorch_torch_component_impl,
    attrs = {
        "component": attr.string(
            doc = "The part: `libtorch` or `torch_headers`.",
            values = ["libtorch", "torch_headers"],
            mandatory = True,
        ),
    },
    provides = [CcInfo],
    toolchains = [TORCH_TOOLCHAIN_TYPE],
)
