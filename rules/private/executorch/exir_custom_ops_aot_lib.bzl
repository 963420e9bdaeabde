"""Rule behind exir_custom_ops_aot_lib."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//rules/private/actions:bind_kernels.bzl", "bind_kernels")
load("//rules/private/actions:codegen.bzl", "codegen_args", "run_codegen")
load("//rules/private/actions:dynamic_libraries.bzl", "dynamic_libraries")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:torch_load_check.bzl", "LOAD_CHECK_ATTRS", "load_torch_ops")
load("//rules/private/providers:et_aten_info.bzl", "EtAtenInfo")
load("//rules/private/providers:et_kernel_info.bzl", "declared_operators")
load("//rules/private/providers:torch_op_info.bzl", "TorchOpInfo")
load("//rules/private/toolchains:toolchains.bzl", "CODEGEN_TOOLCHAIN_TYPE", "RUNTIME_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

def _library_name(ctx):
    """The name that Bazel gives a shared library."""
    return "lib" + ctx.label.name.rpartition("/")[2] + ".so"

def _define(ctx):
    """The operators as C++ for PyTorch, from the YAML alone."""
    directory = ctx.label.name + "/"
    outputs = struct(
        boxed_kernels = ctx.actions.declare_directory(directory + "boxed_kernels"),
        aten_kernels = ctx.actions.declare_file(directory + "AtenKernels.cpp") if ctx.attr.aten_kernels else None,
        kernel_table = ctx.actions.declare_file(directory + "KernelTable.cpp"),
        native_functions = ctx.actions.declare_file(directory + "NativeFunctions.h"),
        torch_operators = ctx.actions.declare_file(directory + "TorchOperators.cpp"),
        manifest = ctx.actions.declare_file(directory + "registered.json"),
        torch_manifest = ctx.actions.declare_file(ctx.label.name + ".torch.json"),
    )
    args = codegen_args(ctx, "generate")
    args.add("--target", "torch")
    args.add("--label", label_text(ctx.label))
    args.add(ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE].max_kernels, format = "--max_kernels=%s")
    declared = declared_operators(ctx.attr.kernels)
    yamls = [ctx.file.yaml_target] if ctx.file.yaml_target else []
    args.add_all(yamls, before_each = "--aten_custom_ops_yaml" if ctx.attr.aten_kernels else "--custom_ops_yaml")
    args.add_all(declared, format_each = "--declared_operators=%s")

    if ctx.attr.aten_kernels:
        args.add("--aten_source", outputs.aten_kernels)
    elif not ctx.attr.kernels:
        args.add("--stubs")

    # A directory that is not expanded, since it has nothing in it yet.
    args.add_all([outputs.boxed_kernels], before_each = "--boxed_kernels", expand_directories = False)
    args.add("--kernel_table", outputs.kernel_table)
    args.add("--native_functions", outputs.native_functions)
    args.add("--torch_operators", outputs.torch_operators)
    args.add("--manifest", outputs.manifest)
    args.add(_library_name(ctx), format = "--library=%s")
    args.add("--module", ctx.outputs.module)
    args.add("--torch_manifest", outputs.torch_manifest)
    run_codegen(
        ctx,
        args,
        inputs = yamls + declared,
        outputs = [file for file in [
            outputs.aten_kernels,
            outputs.boxed_kernels,
            outputs.kernel_table,
            outputs.native_functions,
            outputs.torch_operators,
            outputs.manifest,
            outputs.torch_manifest,
            ctx.outputs.module,
        ] if file],
        mnemonic = "EtGenerate",
        progress_message = "Generating operators for PyTorch for %{label}",
    )
    return outputs

def _link(ctx, generated, adapters, deps, aten):
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    bridge = ctx.attr._bridge[CcInfo]
    runtime = ctx.toolchains[RUNTIME_TOOLCHAIN_TYPE].program
    _, objects = cc_common.compile(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        feature_configuration = feature_configuration,
        srcs = [generated.torch_operators, generated.kernel_table, generated.boxed_kernels] + ([adapters] if adapters else []),
        private_hdrs = [generated.native_functions],
        # Bazel tells C++ by a file's ending, and a tree has none.
        user_compile_flags = ctx.fragments.cpp.cxxopts + ctx.attr.compiler_flags,
        compilation_contexts = [runtime.compilation_context] + [dep.compilation_context for dep in deps + [bridge]],
        disallow_nopic_outputs = True,
    )
    if aten:
        # Alone, so that nothing else waits for PyTorch's headers.
        _, aten_objects = cc_common.compile(
            name = ctx.label.name + "_aten",
            actions = ctx.actions,
            cc_toolchain = cc_toolchain,
            feature_configuration = feature_configuration,
            srcs = [generated.aten_kernels],
            user_compile_flags = ctx.attr.compiler_flags,
            # PyTorch's headers come first: ExecuTorch brings older copies of some.
            compilation_contexts = [aten.torch.compilation_context, aten.headers.compilation_context, runtime.compilation_context],
            disallow_nopic_outputs = True,
        )
        objects = cc_common.merge_compilation_outputs(compilation_outputs = [objects, aten_objects])

    # The bridge's functions come before the runtime's of the same name.
    linking_contexts = [bridge.linking_context] + ([aten.library.linking_context] if aten else []) + [dep.linking_context for dep in deps] + [runtime.linking_context]
    linked = cc_common.link(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        feature_configuration = feature_configuration,
        compilation_outputs = objects,
        linking_contexts = linking_contexts,
        output_type = "dynamic_library",
        # What a kernel shares with the runtime must not become another library's of the process.
        user_link_flags = ["-Wl,--version-script=" + ctx.file._symbols.path],
        additional_inputs = [ctx.file._symbols],
    )
    library = linked.library_to_link
    return library.resolved_symlink_dynamic_library or library.dynamic_library, dynamic_libraries(linking_contexts)

def _exir_custom_ops_aot_lib_impl(ctx):
    aten = ctx.attr._aten_bridge[EtAtenInfo] if ctx.attr.aten_kernels else None
    kernels = [dep[CcInfo] for dep in ctx.attr.kernels]
    aten_kernels = [dep[CcInfo] for dep in ctx.attr.aten_kernels]
    generated = _define(ctx)
    adapters = None
    if kernels or aten_kernels:
        adapters = bind_kernels(ctx, generated.manifest, kernels + aten_kernels, besides = aten.torch if aten else None, pic = True)

    # Generated code includes nothing of kernels that bring PyTorch's headers.
    aten_kernels = [CcInfo(linking_context = info.linking_context) for info in aten_kernels]
    libraries = [dep[CcInfo] for dep in ctx.attr.deps]
    library, needed = _link(ctx, generated, adapters, kernels + aten_kernels + libraries, aten)
    operators = load_torch_ops(ctx, library, generated.torch_manifest, needed)
    return [
        DefaultInfo(
            files = depset([library]),
            runfiles = ctx.runfiles([library] + needed).merge_all([
                dep[DefaultInfo].default_runfiles
                for dep in ctx.attr.kernels + ctx.attr.aten_kernels + ctx.attr.deps
            ]),
        ),
        TorchOpInfo(
            libraries = depset([library]),
            manifests = depset([generated.torch_manifest]),
            operators = depset([operators]),
        ),
        OutputGroupInfo(
            _validation = depset([operators]),
            generated = depset([file for file in [
                generated.aten_kernels,
                generated.boxed_kernels,
                generated.kernel_table,
                generated.torch_operators,
                adapters,
            ] if file]),
            manifest = depset([generated.manifest]),
            operators = depset([operators]),
        ),
    ]

exir_custom_ops_aot_lib = rule(
    doc = """A shared library that defines the operators of a custom_ops.yaml in PyTorch, with the kernels that programs run with.

`torch.ops.load_library` loads it.""",
    implementation = _exir_custom_ops_aot_lib_impl,
    attrs = {
        "aten_kernels": attr.label_list(
            doc = "Libraries that define the YAML's kernels once more, with `at::Tensor`. PyTorch calls these in place of `kernels`.",
            providers = [CcInfo],
        ),
        "compiler_flags": attr.string_list(doc = "Options for the C++ compiler, for the generated sources; Bazel's `copts`."),
        "deps": attr.label_list(
            doc = "C++ libraries to link with.",
            providers = [CcInfo],
        ),
        "kernels": attr.label_list(
            doc = """Libraries that define the kernels: `et_kernel_library`, or any `cc_library`. Without any, operators are
defined without a kernel: a call raises an error, and an export needs fakes of your own.""",
            providers = [CcInfo],
        ),
        "module": attr.output(
            doc = "The Python module that loads the library.",
            mandatory = True,
        ),
        "yaml_target": attr.label(
            doc = """YAML that binds custom operators, by full schema (`func:`), to kernels. Not needed where the
libraries of `kernels` declare operators (`declares_operators`).""",
            allow_single_file = [".yaml", ".yml"],
        ),
        "_aten_bridge": attr.label(
            default = "//runtime/aten:bridge",
            providers = [EtAtenInfo],
        ),
        "_bridge": attr.label(
            default = "//runtime/torch:torch_operators",
            providers = [CcInfo],
        ),
        "_symbols": attr.label(
            default = "//runtime/torch:symbols.ld",
            allow_single_file = True,
        ),
    } | LOAD_CHECK_ATTRS,
    fragments = ["cpp"],
    provides = [TorchOpInfo],
    toolchains = use_cc_toolchain() + [CODEGEN_TOOLCHAIN_TYPE, RUNTIME_TOOLCHAIN_TYPE],
)
