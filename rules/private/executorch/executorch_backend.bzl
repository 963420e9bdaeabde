"""Rule executorch_backend."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:kept_libraries.bzl", "kept_libraries")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:param_file.bzl", "no_empty_names")
load("//rules/private/providers:et_backend_info.bzl", "EtBackendInfo")

visibility(["//rules/..."])

def _executorch_backend_impl(ctx):
    no_empty_names(ctx, "backend_ids")
    return [
        DefaultInfo(runfiles = ctx.attr.library[DefaultInfo].default_runfiles),
        kept_libraries(ctx.label, ctx.attr.library[CcInfo]),
        EtBackendInfo(label = label_text(ctx.label), backend_ids = ctx.attr.backend_ids),
    ]

executorch_backend = rule(
    doc = """A library that registers backends with the runtime, for programs that delegate to these backends.

`deps` of an `executorch_binary` may have this target. The build of a binary checks that the library, with its dependencies,
registers each declared backend. `//runtime:backend_xnnpack` has the XNNPACK backend of the executorch wheel. For a runtime of your
own, declare its backends with this rule.""",
    implementation = _executorch_backend_impl,
    attrs = {
        "backend_ids": attr.string_list(
            doc = "The names of the backends that the library registers with `register_backend()`.",
            mandatory = True,
            allow_empty = False,
        ),
        "library": attr.label(
            doc = "The library. A static library needs `alwayslink = True`, since no symbol refers to the registration of a backend.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
    provides = [CcInfo, EtBackendInfo],
)
