"""Rule executorch_backend."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:et_backend_info.bzl", "EtBackendInfo")

visibility(["//rules/..."])

def _executorch_backend_impl(ctx):
    return [
        DefaultInfo(runfiles = ctx.attr.library[DefaultInfo].default_runfiles),
        ctx.attr.library[CcInfo],
        EtBackendInfo(label = label_text(ctx.label), backend_ids = ctx.attr.backend_ids),
    ]

executorch_backend = rule(
    doc = """A library that registers backends with the runtime, for programs that delegate to these.

`deps` of an `executorch_binary` take it. The build of a binary checks that the library, with all that it links, has every
backend that it declares. `//runtime:backend_xnnpack` is that of the executorch wheel; whoever brings a runtime of their own
brings its backends in this form.""",
    implementation = _executorch_backend_impl,
    attrs = {
        "backend_ids": attr.string_list(
            doc = "The names under which the library registers backends: what it gives to `register_backend()`.",
            mandatory = True,
            allow_empty = False,
        ),
        "library": attr.label(
            doc = "The library. A static one has `alwayslink = True`: nothing refers to what registers a backend.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
    provides = [CcInfo, EtBackendInfo],
)
