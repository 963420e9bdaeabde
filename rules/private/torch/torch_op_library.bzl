"""Rule torch_op_library."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "compile_cc", "configure_cc", "group_cc_toolchain", "link_cc", "merge_objects", "shared_library")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "SYMBOLS_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:compile_cuda.bzl", "compile_cuda")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:param_file.bzl", "one_line_each")
load("//rules/private/actions:torch_load_check.bzl", "LOAD_CHECK_ATTRS", "LOAD_CHECK_EXEC_GROUPS", "load_torch_ops")
load("//rules/private/providers:torch_op_info.bzl", "TorchOpInfo")
load("//rules/private/toolchains:cuda_toolkit.bzl", "CudaToolkitInfo", "toolkit_for")
load("//rules/private/toolchains:toolchain_types.bzl", "TORCH_TOOLCHAIN_TYPE")
load(":torch_ops_check.bzl", "check_torch_ops", "torch_ops_aspect")

visibility(["//rules/..."])

BAD_VERSION_ERR = """{label}: attribute torch_target_version: expected a version of PyTorch, as major.minor; got "{value}".

Likely cause: the value has a patch version or a suffix.
Fix: give the major and the minor version, e.g. "2.10".
See: docs/errors.md#torch-version"""

VERSION_ERR = """{label}: attribute torch_target_version: expected {oldest} to {newest}; got {value}: {misfit}.

Likely cause: the library was written for another PyTorch than that of executorch.python or of the toolchain.
Fix: choose a version from {oldest} to {newest}.
See: docs/errors.md#torch-version"""

NOT_STABLE_ERR = """{label}: attribute torch_target_version: expected api = "stable"; got api = "aten".

Likely cause: api has its default, "aten". A library with this API fits only the version of PyTorch that the library is compiled with.
Fix: set api = "stable", or remove torch_target_version.
See: docs/errors.md#torch-version"""

# The headers of the stable ABI in older versions do not support TORCH_TARGET_VERSION.
_OLDEST_STABLE = (2, 9)

_STABLE_LIBRARIES = ["libtorch_cpu", "libtorch_cuda"]

def _numbers(version):
    """Returns the major and minor version; None if the text is not a version."""
    parts = version.split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit() else None

def target_version(label, api, value, torch_version, fail = fail):
    """Returns the version of PyTorch whose stable ABI a library may use.

    Args:
      label: Label of the library.
      api: str, the library's attribute api.
      value: str, the library's attribute torch_target_version; empty for the toolchain's version.
      torch_version: str, the toolchain's version.
      fail: the function to call with an error.
    Returns:
      tuple[int, int], or None with the aten API or after a failure.
    """
    if api != "stable":
        return fail(NOT_STABLE_ERR.format(label = label)) if value else None
    newest = _numbers(torch_version)
    wanted = _numbers(value) if value else newest
    if not wanted or value.count(".") > 1:
        return fail(BAD_VERSION_ERR.format(label = label, value = value))
    misfit = None
    if wanted > newest:
        misfit = "the toolchain has PyTorch {}, whose headers know no newer ABI".format(torch_version)
    elif wanted < _OLDEST_STABLE:
        misfit = "the headers give the stable ABI of {}.{} and newer".format(*_OLDEST_STABLE)
    if misfit:
        return fail(VERSION_ERR.format(
            label = label,
            misfit = misfit,
            newest = "{}.{}".format(*newest),
            oldest = "{}.{}".format(*_OLDEST_STABLE),
            value = value or torch_version,
        ))
    return wanted

def _hex_byte(number):
    return ("0" if number < 16 else "") + "%x" % number

def _shared_libraries(linker_inputs):
    return [
        library.dynamic_library
        for linker_input in linker_inputs.to_list()
        for library in linker_input.libraries
        if library.dynamic_library
    ]

def _stable_linking(ctx, libtorch, deps):
    """Returns the libraries to link. Of PyTorch, only libraries with the stable ABI, since others differ between versions."""
    torch = libtorch.linker_inputs.to_list()
    owners = {linker_input.owner: None for linker_input in torch}
    stable = cc_common.create_linker_input(owner = ctx.label, libraries = depset([
        library
        for linker_input in torch
        for library in linker_input.libraries
        if library.dynamic_library and library.dynamic_library.basename.split(".")[0] in _STABLE_LIBRARIES
    ]))
    linked = depset(transitive = [dep.linking_context.linker_inputs for dep in deps], order = "topological").to_list()
    return cc_common.create_linking_context(linker_inputs = depset(
        [linker_input for linker_input in linked if linker_input.owner not in owners] + [stable],
    ))

def _python_linking(torch):
    """Returns linker options for libtorch_python, and their files. A library without Python code must not need libtorch_python."""
    libraries = _shared_libraries(torch.libtorch_python.linking_context.linker_inputs)
    if not libraries:
        return [], []
    return ["-Wl,--as-needed"] + [library.path for library in libraries] + ["-Wl,--no-as-needed"], libraries

def _extension_name(ctx):
    """Returns the definition of TORCH_EXTENSION_NAME, as in PyTorch's build of extensions, unless the target defines the macro."""
    if any(["TORCH_EXTENSION_NAME" in flag for flag in ctx.attr.local_defines + ctx.attr.copts]):
        return []
    return ["TORCH_EXTENSION_NAME=" + ctx.outputs.module.basename.removesuffix(".py")]

def _link(ctx, version):
    """Compiles and links the library. Returns the library, the needed shared libraries without libtorch, and CcInfo."""
    torch = ctx.toolchains[TORCH_TOOLCHAIN_TYPE]
    cc = configure_cc(ctx)
    cuda_sources = [source for source in ctx.files.srcs if source.extension == "cu"]
    cuda = toolkit_for(ctx.label, cuda_sources, ctx.attr._cuda[CudaToolkitInfo])
    deps = [dep[CcInfo] for dep in ctx.attr.deps] + ([cuda.runtime] if cuda else [])
    libtorch = torch.libtorch.linking_context
    defines = ctx.attr.local_defines + _extension_name(ctx)
    if version:
        defines = defines + ["TORCH_TARGET_VERSION=0x{}{}000000000000ULL".format(*[_hex_byte(n) for n in version])]
    compilation_context, objects = compile_cc(
        cc,
        srcs = [source for source in ctx.files.srcs if source.extension != "cu"],
        public_hdrs = ctx.files.hdrs,
        local_defines = defines,
        user_compile_flags = ["-std=" + torch.cxx_standard] + ctx.attr.copts,
        compilation_contexts = [
            torch.torch_headers.compilation_context,
            torch.libtorch_python.compilation_context,
        ] + [dep.compilation_context for dep in deps],
        disallow_nopic_outputs = True,
    )
    if cuda:
        cuda_objects = [
            compile_cuda(ctx, cuda, cc.toolchain, source, compilation_context, defines, torch.cxx_standard, ctx.attr.cuda_copts)
            for source in cuda_sources
        ]
        objects = merge_objects([
            objects,
            cc_common.create_compilation_outputs(pic_objects = depset(cuda_objects)),
        ])
    python_flags, python_libraries = _python_linking(torch) if not version else ([], [])
    linked = link_cc(
        cc,
        objects,
        [_stable_linking(ctx, libtorch, deps)] if version else [dep.linking_context for dep in deps] + [libtorch],
        output_type = "dynamic_library",
        user_link_flags = python_flags + ctx.attr.linkopts,
        additional_inputs = python_libraries,
    )
    shared = [dep[CcInfo] for dep in ctx.attr.deps if TorchOpInfo in dep] + ([cuda.runtime] if cuda else [])
    needed = depset(transitive = [info.linking_context.linker_inputs for info in shared], order = "topological")
    linking_context = cc_common.create_linking_context(linker_inputs = depset(
        [cc_common.create_linker_input(owner = ctx.label, libraries = depset([linked.library_to_link]))],
        transitive = [needed, libtorch.linker_inputs],
        order = "topological",
    ))
    return (
        shared_library(linked),
        _shared_libraries(needed),
        CcInfo(compilation_context = compilation_context, linking_context = linking_context),
    )

def _describe(ctx, library, version, registered):
    """Declares the action that writes a library's manifest and the module that loads the library. Returns the manifest."""
    cc_toolchain = group_cc_toolchain(ctx, "symbols")
    manifest = ctx.actions.declare_file(ctx.label.name + ".torch.json")
    sources = [] if registered else ctx.files.srcs + ctx.files.hdrs
    torch = _shared_libraries(ctx.toolchains[TORCH_TOOLCHAIN_TYPE].libtorch.linking_context.linker_inputs) if version else []
    args = codegen_args(ctx, "torch_library")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(library, format = "--library=%s")
    args.add(cc_toolchain.nm_executable, format = "--nm=%s")
    args.add_all(sources, format_each = "--source=%s")
    if registered:
        args.add(registered, format = "--loaded=%s")
    args.add(one_line_each(ctx, "namespace"), format = "--namespace=%s")
    args.add_all(torch, format_each = "--torch_library=%s")
    args.add(manifest, format = "--manifest=%s")
    args.add(ctx.outputs.module, format = "--module=%s")
    run_codegen(
        ctx,
        args,
        exec_group = "symbols",
        inputs = depset([library] + sources + torch + ([registered] if registered else []), transitive = [cc_toolchain.all_files]),
        outputs = [manifest, ctx.outputs.module],
        mnemonic = "EtTorchLibrary",
        progress_message = "Judging what %{label} registers",
    )
    return manifest

def _torch_op_library_impl(ctx):
    torch = ctx.toolchains[TORCH_TOOLCHAIN_TYPE]
    version = target_version(ctx.label, ctx.attr.api, ctx.attr.torch_target_version, torch.version)
    library, needed, cc_info = _link(ctx, version)
    loaded = load_torch_ops(ctx, library, ctx.outputs.module, _shared_libraries(cc_info.linking_context.linker_inputs))
    manifest = _describe(ctx, library, version, loaded.registered)
    report = check_torch_ops(ctx, ctx.attr.deps, struct(manifests = [manifest], operators = loaded.operators))
    inner = [dep[TorchOpInfo] for dep in ctx.attr.deps if TorchOpInfo in dep]
    return [
        DefaultInfo(
            files = depset([library]),
            runfiles = ctx.runfiles([library] + needed).merge_all([dep[DefaultInfo].default_runfiles for dep in ctx.attr.deps]),
        ),
        cc_info,
        TorchOpInfo(
            libraries = depset([library], transitive = [info.libraries for info in inner], order = "postorder"),
            manifests = depset([manifest], transitive = [info.manifests for info in inner]),
            oldest_torch = "{}.{}".format(*version) if version else None,
            operators = depset(loaded.operators, transitive = [info.operators for info in inner]),
        ),
        OutputGroupInfo(
            _validation = depset([loaded.report, report]),
            manifest = depset([manifest]),
            operators = depset([loaded.report]),
        ),
    ]

torch_op_library = rule(
    doc = """A shared library with operators for PyTorch, which `torch.ops.load_library` loads.

The build loads the library once. If loading fails or would abort a process, the build fails (docs/errors.md lists the reasons).""",
    implementation = _torch_op_library_impl,
    attrs = {
        "api": attr.string(
            doc = """The C++ API. `aten`: all of PyTorch's C++ (`torch/library.h`, `ATen/`). The library is compatible only with the version
of PyTorch with which it is compiled. `stable`: the stable ABI only (`torch/csrc/stable/`, `torch/headeronly/`). The library is
compatible with all versions from `torch_target_version`. Default: `aten`.""",
            default = "aten",
            values = ["aten", "stable"],
        ),
        "copts": attr.string_list(doc = "Options for the C++ compiler. The C++ standard comes from the PyTorch toolchain."),
        "cuda_copts": attr.string_list(doc = "Options for nvcc, such as `-arch=sm_90`."),
        "deps": attr.label_list(
            doc = """C++ libraries, which are linked in, and other `torch_op_library` targets, which are loaded before this library.""",
            aspects = [torch_ops_aspect],
            providers = [CcInfo],
        ),
        "hdrs": attr.label_list(
            doc = "Headers.",
            allow_files = [".h", ".hpp"],
        ),
        "linkopts": attr.string_list(doc = "Options for the linker."),
        "local_defines": attr.string_list(doc = "Preprocessor definitions for this library."),
        "module": attr.output(
            doc = "The Python module that loads the library. The macro gives it.",
            mandatory = True,
        ),
        "namespace": attr.string(
            doc = "The only namespace of the library's registrations. The build fails if the library registers in another namespace.",
        ),
        "srcs": attr.label_list(
            doc = "Sources in C++ and CUDA, which use macros such as `TORCH_LIBRARY` and `STABLE_TORCH_LIBRARY`.",
            allow_files = [".cc", ".cpp", ".cu", ".cxx"],
            mandatory = True,
        ),
        "torch_target_version": attr.string(
            doc = """With api = "stable": the oldest version of PyTorch that should load the library, e.g. `2.10`. Default: the version of
the toolchain.""",
        ),
        "_cuda": attr.label(
            default = "@executorch_cuda//:toolkit",
            providers = [CudaToolkitInfo],
        ),
    } | LOAD_CHECK_ATTRS,
    exec_groups = CODEGEN_EXEC_GROUPS | SYMBOLS_EXEC_GROUPS | CC_LINK_EXEC_GROUPS | LOAD_CHECK_EXEC_GROUPS,
    fragments = ["cpp"],
    provides = [CcInfo, TorchOpInfo],
    toolchains = use_cc_toolchain() + [TORCH_TOOLCHAIN_TYPE],
)
