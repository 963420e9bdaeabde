"""Rule headers_toolchain."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility(["//rules/...", "//runtime"])

headers_toolchain = rule(
    doc = """A toolchain of type `//rules:headers_toolchain_type`: ExecuTorch's headers for kernels, for platforms without a runtime.

Kernels and compiled programs need headers only. On a platform with an `executorch_runtime_toolchain`, the headers of that runtime
count.""",
    implementation = lambda ctx: [platform_common.ToolchainInfo(kernel_includes = ctx.attr.kernel_includes[CcInfo])],
    attrs = {
        "kernel_includes": attr.label(
            doc = "The headers, as in `executorch_runtime_toolchain`.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
)
