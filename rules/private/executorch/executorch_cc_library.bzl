"""Rule executorch_cc_library."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "FEATURES_OF_OWN_SOURCES", "archive_cc", "compile_cc", "configure_cc", "include_roots", "unity_sources")

visibility(["//kernels/...", "//rules/tests/...", "//runtime/..."])

def _executorch_cc_library_impl(ctx):
    cc = configure_cc(ctx, FEATURES_OF_OWN_SOURCES if ctx.attr.unity_build else [])
    deps = [dep[CcInfo] for dep in ctx.attr.deps]
    compilation_context, _ = compile_cc(
        cc,
        name = ctx.label.name + "_headers",
        public_hdrs = ctx.files.hdrs,
        compilation_contexts = [dep.compilation_context for dep in deps],
    )
    all_deps = [dep[CcInfo] for dep in ctx.attr.implementation_deps] + deps
    compilation_contexts = [dep.compilation_context for dep in all_deps]
    compilation_contexts += [dep[CcInfo].compilation_context for dep in ctx.attr.header_deps]
    srcs = [file for file in ctx.files.srcs if file.extension != "h"]
    if ctx.attr.unity_build:
        compilation_contexts.append(include_roots(ctx, srcs))
        srcs = unity_sources(ctx, srcs)
    _, objects = compile_cc(
        cc,
        srcs = srcs,
        private_hdrs = [file for file in ctx.files.srcs + ctx.files.hdrs if file.extension == "h"],
        user_compile_flags = ctx.attr.copts,
        compilation_contexts = compilation_contexts,
    )
    linking_context, library = archive_cc(cc, objects, [dep.linking_context for dep in all_deps], alwayslink = ctx.attr.alwayslink)
    return [
        DefaultInfo(
            files = depset([f for f in [library.static_library, library.pic_static_library] if f] if library else []),
            runfiles = ctx.runfiles().merge_all([dep[DefaultInfo].default_runfiles for dep in ctx.attr.implementation_deps + ctx.attr.deps]),
        ),
        CcInfo(compilation_context = compilation_context, linking_context = linking_context),
    ]

executorch_cc_library = rule(
    doc = """A C++ library of this repository for a user's binaries.

The sources are compiled with the options for kernels. A `cc_library` would only have the options of the user's workspace.""",
    implementation = _executorch_cc_library_impl,
    attrs = {
        "alwayslink": attr.bool(doc = "Whether a binary links all object files of the library. Default: False."),
        "copts": attr.string_list(doc = "Options for the C++ compiler."),
        "deps": attr.label_list(
            doc = "C++ libraries.",
            providers = [CcInfo],
        ),
        "hdrs": attr.label_list(
            doc = "Headers.",
            allow_files = [".h"],
        ),
        "header_deps": attr.label_list(
            doc = "C++ libraries whose headers only the sources include, and which are not linked.",
            providers = [CcInfo],
        ),
        "implementation_deps": attr.label_list(
            doc = "C++ libraries whose headers only the sources include. Their include paths come before those of `deps`.",
            providers = [CcInfo],
        ),
        "srcs": attr.label_list(
            doc = "Sources and private headers.",
            allow_files = [".cpp", ".h"],
        ),
        "unity_build": attr.bool(doc = "Whether the sources are compiled as one translation unit, as by `et_kernel_library`. Default: False."),
    },
    exec_groups = CC_LINK_EXEC_GROUPS,
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cc_toolchain(),
)
