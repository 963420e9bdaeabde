"""Rule executorch_runtime_component."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load(":toolchain_types.bzl", "RUNTIME_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

def _executorch_runtime_component_impl(ctx):
    toolchain = ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE]
    return [
        DefaultInfo(runfiles = toolchain.default_runfiles),
        getattr(toolchain, ctx.attr.component),
    ]

executorch_runtime_component = rule(
    doc = "A part of the runtime of the toolchain that fits the target platform, as a C++ library.",
    implementation = _executorch_runtime_component_impl,
    attrs = {
        "component": attr.string(
            doc = "Which part: `kernel_includes`, `module` or `program`.",
            values = ["kernel_includes", "module", "program"],
            mandatory = True,
        ),
    },
    provides = [CcInfo],
    toolchains = [RUNTIME_TOOLCHAIN_TYPE],
)
