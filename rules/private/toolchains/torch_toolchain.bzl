"""Rule executorch_torch_toolchain."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility(["//rules/..."])

def _executorch_torch_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        cxx_standard = ctx.attr.cxx_standard,
        default_runfiles = ctx.attr.libtorch[DefaultInfo].default_runfiles,
        libtorch = ctx.attr.libtorch[CcInfo],
        libtorch_python = ctx.attr.libtorch_python[CcInfo] if ctx.attr.libtorch_python else CcInfo(),
        torch_headers = ctx.attr.headers[CcInfo],
        version = ctx.attr.version,
    )]

executorch_torch_toolchain = rule(
    doc = """A toolchain of type `//rules:torch_toolchain_type`: PyTorch for C++ on a target platform.

`//runtime:torch_toolchain` has the torch wheel of the Python environment, so that a process has only one libtorch. A
`cc_library` depends on the toolchain's parts by `//runtime:torch_headers` and `//runtime:libtorch`.""",
    implementation = _executorch_torch_toolchain_impl,
    attrs = {
        "cxx_standard": attr.string(
            doc = "The C++ standard with which PyTorch compiles its extensions.",
            default = "c++20",
        ),
        "headers": attr.label(
            doc = "`ATen/`, `c10/` and `torch/`, with the definition of the C++ ABI. Headers only.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "libtorch": attr.label(
            doc = "libtorch_cpu and libc10 (and the CUDA libraries, if any), with the headers, without libtorch_python.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "libtorch_python": attr.label(
            doc = "The additional parts for Python extension modules: libtorch_python, `pybind11/`, `Python.h`.",
            providers = [CcInfo],
        ),
        "version": attr.string(
            doc = "PyTorch's version, e.g. 2.13.0.",
            mandatory = True,
        ),
    },
)
