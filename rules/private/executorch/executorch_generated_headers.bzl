"""Rule executorch_generated_headers."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", "EtGeneratedLibInfo")

visibility(["//rules/..."])

def _executorch_generated_headers_impl(ctx):
    info = ctx.attr.library[EtGeneratedLibInfo].headers
    return [DefaultInfo(files = depset(info.compilation_context.direct_public_headers)), info]

executorch_generated_headers = rule(
    doc = "The headers of an executorch_generated_lib.",
    implementation = _executorch_generated_headers_impl,
    attrs = {
        "library": attr.label(
            doc = "The executorch_generated_lib.",
            mandatory = True,
            providers = [EtGeneratedLibInfo],
        ),
    },
    provides = [CcInfo],
)
