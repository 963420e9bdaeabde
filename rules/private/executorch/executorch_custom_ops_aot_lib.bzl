"""Rule behind executorch_custom_ops_aot_lib."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:bind_kernels.bzl", "bind_kernels")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "compile_cc", "configure_cc", "link_cc", "shared_library")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "SYMBOLS_EXEC_GROUPS")
load("//rules/private/actions:generate.bzl", "compile_generated", "generate")
load("//rules/private/actions:implicit_attributes.bzl", "cc_dependency", "source_file")
load("//rules/private/actions:torch_load_check.bzl", "LOAD_CHECK_ATTRS", "LOAD_CHECK_EXEC_GROUPS", "load_torch_ops")
load("//rules/private/providers:et_aten_info.bzl", "EtAtenInfo")
load("//rules/private/providers:et_kernel_info.bzl", "declared_operators", "has_custom_operators")
load("//rules/private/providers:et_operator_info.bzl", "EtOperatorInfo")
load("//rules/private/providers:torch_op_info.bzl", "TorchOpInfo")
load("//rules/private/toolchains:find_runtime.bzl", "find_runtime", "use_headers")
load(":kernel_libraries.bzl", "kernel_libraries")
load(":old_names.bzl", "OLD_NAMES_ATTRS", "written")

visibility(["//rules/..."])

# The models of a selection may depend on custom_ops_<name>, so the library's selections leave out models: see et_operator_library.
_without_models = transition(
    implementation = lambda settings, attr: {"//rules/private/executorch:without_models": True},
    inputs = [],
    outputs = ["//rules/private/executorch:without_models"],
)

def _library_name(ctx):
    """Returns the file name that Bazel gives a shared library."""
    return "lib" + ctx.label.name.rpartition("/")[2] + ".so"

def _kernels(ctx):
    """Finds the kernel libraries with ExecuTorch's tensors, and those with PyTorch's tensors.

    Returns:
      struct(lean: list[Target], aten: list[Target], left_out: list[Target], libraries without custom operators,
        attribute: str, the attribute with the libraries of the YAML's kernels)
    """
    of_library = ctx.attr.library_deps
    given = kernel_libraries(ctx.attr.kernel_deps, of_library)
    left_out = []
    if of_library:
        # The kernels of PyTorch's operators are hundreds of files, which an export would wait for.
        custom = [target for target in given if has_custom_operators(target)]
        if custom or ctx.attr.custom_ops_aten_kernel_deps:
            left_out = [target for target in given if target not in custom]
            given = custom
    lean = [target for target in given if not _takes_aten(ctx, target)]
    aten = ctx.attr.custom_ops_aten_kernel_deps + [target for target in given if _takes_aten(ctx, target)]
    attribute = written(ctx, "custom_ops_aten_kernel_deps" if ctx.attr.custom_ops_aten_kernel_deps else "kernel_deps")
    return struct(aten = aten, attribute = attribute, lean = lean, left_out = left_out)

def _takes_aten(ctx, target):
    return ctx.attr.aten_mode or "USE_ATEN_LIB" in target[CcInfo].compilation_context.defines.to_list()

def _define(ctx, kernels):
    """Declares the action that generates the C++ of the operators for PyTorch, from the YAML and the selections."""
    directory = ctx.label.name + "/"
    outputs = struct(
        boxed_kernels = ctx.actions.declare_directory(directory + "boxed_kernels"),
        aten_kernels = ctx.actions.declare_file(directory + "AtenKernels.cpp") if kernels.aten else None,
        kernel_table = ctx.actions.declare_file(directory + "KernelTable.cpp"),
        native_functions = ctx.actions.declare_file(directory + "NativeFunctions.h"),
        torch_operators = ctx.actions.declare_file(directory + "TorchOperators.cpp"),
        manifest = ctx.actions.declare_file(directory + "registered.json"),
        torch_manifest = ctx.actions.declare_file(ctx.label.name + ".torch.json"),
    )
    flags = ["--library=" + _library_name(ctx)]
    if not (kernels.aten or kernels.lean):
        flags.append("--stubs")
    if not ctx.attr.custom_ops_functional_variants:
        flags.append("--nofunctional_variants")
    generate(
        ctx,
        "generate_torch",
        inputs = [("--aten_custom_ops_yaml" if kernels.aten else "--custom_ops_yaml", ctx.file.custom_ops_yaml_target)],
        outputs = {
            "--aten_source": outputs.aten_kernels,
            "--boxed_kernels": outputs.boxed_kernels,
            "--kernel_table": outputs.kernel_table,
            "--manifest": outputs.manifest,
            "--module": ctx.outputs.module,
            "--native_functions": outputs.native_functions,
            "--torch_manifest": outputs.torch_manifest,
            "--torch_operators": outputs.torch_operators,
        },
        flags = flags,
        declared = declared_operators(kernels.lean),
        progress_message = "Generating operators for PyTorch for %{label}",
        selections = [
            dep[EtOperatorInfo].selected_operators
            for dep in ctx.attr.deps + ctx.attr.library_deps
            if EtOperatorInfo in dep
        ],
    )
    return outputs

def _link(ctx, generated, adapters, deps, aten):
    """Compiles and links the library. Returns the library, the shared libraries that it needs, and CcInfo."""
    cc = configure_cc(ctx)
    bridge = ctx.attr._bridge[CcInfo]
    _, objects = compile_generated(
        cc,
        srcs = [generated.kernel_table, generated.boxed_kernels, adapters],
        aten_kernels = generated.aten_kernels,
        aten = aten,
        compilation_contexts = [dep.compilation_context for dep in deps + [bridge]],
        private_hdrs = [generated.native_functions],
        disallow_nopic_outputs = True,
    )
    _, definitions = compile_cc(
        cc,
        name = ctx.label.name + "_definitions",
        srcs = [generated.torch_operators],
        user_compile_flags = ctx.attr.copts,
        compilation_contexts = [bridge.compilation_context],
        disallow_nopic_outputs = True,
    )

    # The bridge comes first, since its functions replace functions of the runtime with the same names.
    linking_contexts = [bridge.linking_context] + ([aten.library.linking_context] if aten else []) + [
        dep.linking_context
        for dep in deps + [find_runtime(ctx).program]
    ]
    linked = link_cc(
        cc,
        objects,
        linking_contexts,
        output_type = "dynamic_library",
        # The version script hides symbols that kernels share with the runtime from other libraries of the process. Definitions
        # come last in the link order and run last, so an operator that a kernel library defines itself is not derived again.
        user_link_flags = ["-Wl,--version-script=" + ctx.file._symbols.path] + [file.path for file in definitions.pic_objects],
        additional_inputs = [ctx.file._symbols] + definitions.pic_objects,
    )

    # Statically linked libraries are part of the library.
    needed = [
        library
        for context in linking_contexts
        for linker_input in context.linker_inputs.to_list()
        for library in linker_input.libraries
        if library.dynamic_library and not (library.static_library or library.pic_static_library)
    ]
    linking_context = cc_common.create_linking_context(linker_inputs = depset([
        cc_common.create_linker_input(
            owner = ctx.label,
            libraries = depset([linked.library_to_link] + needed, order = "topological"),
        ),
    ]))
    return (
        shared_library(linked),
        [library.dynamic_library for library in needed],
        CcInfo(linking_context = linking_context),
    )

def _executorch_custom_ops_aot_lib_impl(ctx):
    libraries = _kernels(ctx)
    aten = ctx.attr._aten_bridge[EtAtenInfo] if libraries.aten else None
    kernels = [target[CcInfo] for target in libraries.lean]
    aten_kernels = [target[CcInfo] for target in libraries.aten]
    generated = _define(ctx, libraries)
    adapters = None
    if kernels or aten_kernels:
        adapters = bind_kernels(
            ctx,
            generated.manifest,
            kernels + aten_kernels,
            attribute = libraries.attribute,
            besides = aten.torch if aten else None,
            left_out = libraries.left_out,
            pic = True,
        )

    # Generated code must not get the include paths of kernels, which include PyTorch's headers.
    aten_kernels = [CcInfo(linking_context = info.linking_context) for info in aten_kernels]
    others = [dep for dep in ctx.attr.deps if CcInfo in dep]
    library, needed, linkable = _link(ctx, generated, adapters, kernels + aten_kernels + [dep[CcInfo] for dep in others], aten)
    loaded = load_torch_ops(ctx, library, ctx.outputs.module, needed)
    return [
        DefaultInfo(
            files = depset([library]),
            runfiles = ctx.runfiles([library] + needed).merge_all([
                dep[DefaultInfo].default_runfiles
                for dep in libraries.lean + libraries.aten + others
            ]),
        ),
        linkable,
        TorchOpInfo(
            libraries = depset([library]),
            manifests = depset([generated.torch_manifest]),
            operators = depset(loaded.operators),
        ),
        OutputGroupInfo(
            _validation = depset([loaded.report]),
            generated = depset([file for file in [
                generated.aten_kernels,
                generated.boxed_kernels,
                generated.kernel_table,
                generated.torch_operators,
                adapters,
            ] if file]),
            manifest = depset([generated.manifest]),
            operators = depset([loaded.report]),
        ),
    ]

executorch_custom_ops_aot_lib = rule(
    doc = """A shared library that defines operators of a custom_ops.yaml in PyTorch, with the kernels of programs.

`torch.ops.load_library` loads it.""",
    implementation = _executorch_custom_ops_aot_lib_impl,
    attrs = {
        "aten_mode": attr.bool(
            doc = "Whether `kernel_deps` take `at::Tensor`, as the kernels of an executorch_generated_lib with aten_mode do. Default: kernels that are compiled with USE_ATEN_LIB do.",
        ),
        "copts": attr.string_list(doc = "Options for the C++ compiler, for the generated sources."),
        "custom_ops_aten_kernel_deps": attr.label_list(
            doc = "Libraries that define the YAML's kernels with `at::Tensor`. PyTorch calls these kernels in place of `kernel_deps`.",
            providers = [CcInfo],
        ),
        "custom_ops_functional_variants": attr.bool(
            doc = """Whether the library also defines the functional variant of each out variant: `my_ops::mul4` for
`my_ops::mul4.out`. With False, other code has to define `my_ops::mul4`.""",
            default = True,
        ),
        "custom_ops_yaml_target": attr.label(
            doc = """YAML that binds custom operators, by full schema (`func:`), to kernels. Not needed if the libraries of `kernel_deps`
declare operators (`declares_operators`).""",
            allow_single_file = [".yaml", ".yml"],
        ),
        "deps": attr.label_list(
            doc = """Selections (`et_operator_library`; several are united), and C++ libraries to link. Without a selection, the library
defines all operators of the YAML.""",
            providers = [[EtOperatorInfo], [CcInfo]],
        ),
        "kernel_deps": attr.label_list(
            doc = """Libraries that define the kernels: `et_kernel_library`, or any `cc_library`. A library that depends on
`//runtime:kernel_includes_aten` counts as one of `custom_ops_aten_kernel_deps`. Without libraries, operators are defined without
kernels: a call raises an error, and an export needs your own fake kernels.""",
            providers = [CcInfo],
        ),
        "library_deps": attr.label_list(
            doc = """The deps of the executorch_generated_lib to which this library belongs: selections and kernel libraries.
The macro gives it.""",
            cfg = _without_models,
            providers = [[EtOperatorInfo], [CcInfo]],
        ),
        "module": attr.output(
            doc = "The Python module that loads the library. The macro gives it.",
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_aten_bridge": attr.label(
            default = "//runtime/aten:bridge",
            providers = [EtAtenInfo],
        ),
        "_bridge": cc_dependency("//runtime/torch:torch_operators"),
        "_symbols": source_file("//runtime/torch:symbols.ld"),
    } | LOAD_CHECK_ATTRS | OLD_NAMES_ATTRS,
    exec_groups = CODEGEN_EXEC_GROUPS | SYMBOLS_EXEC_GROUPS | CC_LINK_EXEC_GROUPS | LOAD_CHECK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    provides = [CcInfo, TorchOpInfo],
    toolchains = use_cc_toolchain() + use_headers(),
)
