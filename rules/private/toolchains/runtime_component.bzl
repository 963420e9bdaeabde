"""Rule executorch_runtime_component."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":find_runtime.bzl", "find_headers", "find_runtime", "use_headers")

visibility(["//rules/..."])

NO_COMPONENT_ERR = """{label}: expected {component} in the runtime for this platform; found none.

Likely cause: the executorch_runtime_toolchain of a runtime of your own lacks the attribute {component}.
Fix: set {component} to a C++ library in the toolchain, or remove the targets and attributes that need {component}.
See: docs/errors.md#no-runtime-component"""

def _executorch_runtime_component_impl(ctx):
    if ctx.attr.component == "kernel_includes":
        return [DefaultInfo(), find_headers(ctx)]
    toolchain = find_runtime(ctx)
    component = getattr(toolchain, ctx.attr.component)
    if not component:
        fail(NO_COMPONENT_ERR.format(component = ctx.attr.component, label = ctx.label))
    return [
        DefaultInfo(runfiles = toolchain.default_runfiles),
        component,
    ]

executorch_runtime_component = rule(
    doc = "A part of the resolved toolchain's runtime, as a C++ library.",
    implementation = _executorch_runtime_component_impl,
    attrs = {
        "component": attr.string(
            doc = "The part: `etdump`, `kernel_includes`, `module`, `program` or `threadpool`.",
            values = ["etdump", "kernel_includes", "module", "program", "threadpool"],
            mandatory = True,
        ),
    },
    provides = [CcInfo],
    fragments = ["platform"],
    toolchains = use_headers(),
)
