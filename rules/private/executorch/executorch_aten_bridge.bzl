"""Rule executorch_aten_bridge."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/providers:et_aten_info.bzl", "EtAtenInfo")
load("//rules/private/toolchains:toolchain_types.bzl", "TORCH_TOOLCHAIN_TYPE")

visibility(["//rules/...", "//runtime/aten"])

def _executorch_aten_bridge_impl(ctx):
    torch = ctx.toolchains[TORCH_TOOLCHAIN_TYPE]
    return [
        DefaultInfo(runfiles = torch.default_runfiles),
        EtAtenInfo(
            headers = ctx.attr.headers[CcInfo],
            kernels = ctx.attr.kernels[CcInfo],
            kernels_yaml = ctx.file.kernels_yaml,
            library = ctx.attr.library[CcInfo],
            torch = torch.libtorch,
        ),
    ]

executorch_aten_bridge = rule(
    doc = "The libraries that an executorch_generated_lib with PyTorch's own kernels needs. `//runtime/aten:bridge` is the only target.",
    implementation = _executorch_aten_bridge_impl,
    attrs = {
        "headers": attr.label(
            doc = "The headers that generated code includes.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "kernels": attr.label(
            doc = "Kernels of operators that PyTorch does not have.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "kernels_yaml": attr.label(
            doc = "The schemas of these operators.",
            mandatory = True,
            allow_single_file = [".yaml"],
        ),
        "library": attr.label(
            doc = "The library that defines the functions of the headers.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
    provides = [EtAtenInfo],
    toolchains = [TORCH_TOOLCHAIN_TYPE],
)
