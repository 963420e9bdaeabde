"""The toolchain types: what generates code (exec), and the runtime and the PyTorch that it is for (target)."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "CcInfo")
load(":registry_size.bzl", "DEFAULT_MAX_KERNELS")

visibility(["//rules/..."])

CODEGEN_TOOLCHAIN_TYPE = Label("//rules:codegen_toolchain_type")
RUNTIME_TOOLCHAIN_TYPE = Label("//rules:runtime_toolchain_type")
TORCH_TOOLCHAIN_TYPE = Label("//rules:torch_toolchain_type")

# One worker serves every subcommand, and keeps what it has read for all of them.
_WORKER = {
    "requires-worker-protocol": "json",
    "supports-multiplex-sandboxing": "1",
    "supports-multiplex-workers": "1",
    "supports-workers": "1",
    "worker-key-mnemonic": "EtCodegen",
}

# Bazel 7 starts a multiplex worker by the mapped path of its tool, where there is none: it is the one or the other.
_PATH_MAPPING = {"supports-path-mapping": "1"}

def _executorch_codegen_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        codegen = ctx.attr.codegen[DefaultInfo].files_to_run,
        codegen_files = ctx.attr.codegen[DefaultInfo].files,
        execution_requirements = _PATH_MAPPING if ctx.attr._path_mapping[BuildSettingInfo].value else _WORKER,
    )]

executorch_codegen_toolchain = rule(
    doc = "A toolchain of type `//rules:codegen_toolchain_type`: the tool that selects, generates and checks.",
    implementation = _executorch_codegen_toolchain_impl,
    attrs = {
        "codegen": attr.label(
            doc = "The code generator's binary.",
            mandatory = True,
            executable = True,
            cfg = "exec",
        ),
        "_path_mapping": attr.label(
            default = "//rules:path_mapping",
            providers = [BuildSettingInfo],
        ),
    },
)

def _executorch_runtime_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        kernel_includes = ctx.attr.kernel_includes[CcInfo],
        max_kernels = ctx.attr.max_kernels,
        program = ctx.attr.program[CcInfo],
        module = ctx.attr.module[CcInfo],
        default_runfiles = ctx.runfiles().merge_all([
            ctx.attr.program[DefaultInfo].default_runfiles,
            ctx.attr.module[DefaultInfo].default_runfiles,
        ]),
    )]

executorch_runtime_toolchain = rule(
    doc = """A toolchain of type `//rules:runtime_toolchain_type`: an ExecuTorch runtime for a target platform.

`//runtime:toolchain` is the official wheel's. Whoever builds ExecuTorch from source (Android, bare metal) declares
a toolchain with their own targets and registers the toolchain.""",
    implementation = _executorch_runtime_toolchain_impl,
    attrs = {
        "kernel_includes": attr.label(
            doc = "What a kernel includes: `executorch/runtime/kernel/kernel_includes.h` and what that needs. Headers only.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "max_kernels": attr.int(
            doc = "How many kernels the operator registry holds: MAX_KERNEL_NUM of a runtime built from source. Default: 2000.",
            default = DEFAULT_MAX_KERNELS,
        ),
        "module": attr.label(
            doc = "`executorch::extension::Module`, TensorPtr, data loaders, with the runtime itself.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "program": attr.label(
            doc = "`executorch::runtime::Program`, `Method`, the operator registry: the runtime without extensions.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
)

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

def _executorch_torch_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        cxx_standard = ctx.attr.cxx_standard,
        default_runfiles = ctx.attr.libtorch[DefaultInfo].default_runfiles,
        libtorch = ctx.attr.libtorch[CcInfo],
        torch_headers = ctx.attr.headers[CcInfo],
        version = ctx.attr.version,
    )]

executorch_torch_toolchain = rule(
    doc = """A toolchain of type `//rules:torch_toolchain_type`: PyTorch for C++ on a target platform.

`//runtime:torch_toolchain` is that of the torch wheel which Python has, so that a process holds one libtorch. A
`cc_library` depends on the toolchain's parts as `//runtime:torch_headers` and `//runtime:libtorch`.""",
    implementation = _executorch_torch_toolchain_impl,
    attrs = {
        "cxx_standard": attr.string(
            doc = "The C++ standard that PyTorch compiles its extensions with.",
            default = "c++20",
        ),
        "headers": attr.label(
            doc = "`ATen/`, `c10/` and `torch/`, with the definition of the C++ ABI. Headers only.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "libtorch": attr.label(
            doc = "libtorch_cpu and libc10 (and their CUDA sisters where there are), with the headers; without libtorch_python.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "version": attr.string(
            doc = "PyTorch's version, e.g. 2.13.0.",
            mandatory = True,
        ),
    },
)

def _executorch_torch_component_impl(ctx):
    toolchain = ctx.toolchains[TORCH_TOOLCHAIN_TYPE]
    return [
        DefaultInfo(runfiles = toolchain.default_runfiles if ctx.attr.component == "libtorch" else ctx.runfiles()),
        getattr(toolchain, ctx.attr.component),
    ]

executorch_torch_component = rule(
    doc = "A part of PyTorch for C++, of the toolchain that fits the target platform, as a C++ library.",
    implementation = _executorch_torch_component_impl,
    attrs = {
        "component": attr.string(
            doc = "Which part: `libtorch` or `torch_headers`.",
            values = ["libtorch", "torch_headers"],
            mandatory = True,
        ),
    },
    provides = [CcInfo],
    toolchains = [TORCH_TOOLCHAIN_TYPE],
)
