"""Rule headers_toolchain."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility(["//rules/...", "//runtime"])

def _headers_toolchain_impl(ctx):
    root = ctx.files.hdrs[0].owner.workspace_root
    return [platform_common.ToolchainInfo(
        # Not a cc_library, which would need a C++ toolchain before a rule can say that the platform lacks a runtime.
        kernel_includes = CcInfo(compilation_context = cc_common.create_compilation_context(
            defines = depset(ctx.attr.defines),
            headers = depset(ctx.files.hdrs),
            system_includes = depset([root + "/" + path for path in ctx.attr.includes]),
        )),
    )]

headers_toolchain = rule(
    doc = """A toolchain of type `//rules:headers_toolchain_type`: ExecuTorch's headers for kernels, for platforms without a runtime.

Kernels and compiled programs need headers only. On a platform with an `executorch_runtime_toolchain`, the headers of that runtime
count.""",
    implementation = _headers_toolchain_impl,
    attrs = {
        "defines": attr.string_list(doc = "Preprocessor definitions for whoever includes the headers."),
        "hdrs": attr.label_list(
            doc = "The headers, all of one repository.",
            allow_files = [".h"],
            mandatory = True,
        ),
        "includes": attr.string_list(doc = "The folders in the repository that include paths begin in."),
    },
)
