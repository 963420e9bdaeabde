"""Rule behind the macro executorch_generated_lib: the library that registers operators."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:bind_kernels.bzl", "bind_kernels")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "archive_cc", "compile_cc", "configure_cc", "merge_objects")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "SYMBOLS_EXEC_GROUPS")
load("//rules/private/actions:generate.bzl", "compile_generated", "generate")
load("//rules/private/actions:implicit_attributes.bzl", "cc_dependency")
load("//rules/private/actions:instruction_sets.bzl", "INSTRUCTION_SET_ATTRS", "instruction_sets")
load("//rules/private/actions:isolate_kernels.bzl", "isolation_flags")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:selective_kernels.bzl", "compile_selective_kernels")
load("//rules/private/actions:wide_kernels.bzl", "compile_wide_kernels", "set_namespace")
load("//rules/private/providers:et_aten_info.bzl", "EtAtenInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", "EtGeneratedLibInfo")
load(
    "//rules/private/providers:et_kernel_info.bzl",
    "EtKernelInfo",
    "declared_operators",
    "kernel_yamls",
    "linking_context_beside_selected",
)
load("//rules/private/providers:et_operator_info.bzl", "EtOperatorInfo")
load("//rules/private/toolchains:find_runtime.bzl", "find_headers", "find_runtime", "has_runtime", "use_headers")
load(":kernel_libraries.bzl", "kernel_libraries")

visibility(["//rules/..."])

NO_YAML_ERR = """{label}: expected functions_yaml_target, custom_ops_yaml_target, or a library with a YAML in kernel_deps; got none.

Likely cause: the kernels, or the YAML that binds operators to kernels, were left out.
Fix: for operators of PyTorch, add kernels with a YAML to kernel_deps, e.g. "//kernels/portable:operators". For operators of
your own, give custom_ops_yaml_target; or declare the operators in C++, in an et_kernel_library with declares_operators = True.
See: docs/errors.md#no-yaml"""

FUNCTIONS_YAML_IN_ATEN_MODE_ERR = """{label}: aten_mode = True excludes {attribute}; got both.

Likely cause: the target was copied from a library with portable kernels. In ATen mode, PyTorch's own kernels run all operators of PyTorch.
Fix: remove {attribute}; or, to use PyTorch's kernels only for operators without other kernels, replace aten_mode by fallback = "aten".
See: docs/errors.md#functions-yaml-in-aten-mode"""

NO_SELECTION_ERR = """{label}: attribute deps: expected an et_operator_library; got none, so the library would register nothing.

Likely cause: deps lacks the selection.
Fix: add an et_operator_library to deps; with include_all_operators = True, this library selects all operators of the YAMLs.
See: docs/errors.md#no-selection"""

# The source of a library for a platform without a runtime. The headers and the kernels can be used there.
_NO_RUNTIME_SOURCE = """\
#error {label} registers kernels with ExecuTorch's runtime, and the platform {platform} has none. See docs/errors.md#no-runtime
"""

def _executorch_generated_lib_impl(ctx):
    if ctx.attr.aten_mode:
        for attribute in ["functions_yaml_target", "fallback_yaml_target"]:
            if getattr(ctx.file, attribute):
                fail(FUNCTIONS_YAML_IN_ATEN_MODE_ERR.format(label = ctx.label, attribute = attribute))
    kernel_targets = kernel_libraries(ctx.attr.kernel_deps, ctx.attr.deps)
    declared = declared_operators(kernel_targets)

    # In ATen mode, kernels take at::Tensor. Kernel libraries with YAMLs have ExecuTorch's tensors.
    yamls = [] if ctx.attr.aten_mode else kernel_yamls(kernel_targets)
    if not (ctx.attr.aten_mode or ctx.file.functions_yaml_target or ctx.file.custom_ops_yaml_target or
            ctx.file.fallback_yaml_target or ctx.attr.aten_bridge or declared or yamls):
        fail(NO_YAML_ERR.format(label = ctx.label))
    selections = [dep[EtOperatorInfo].selected_operators for dep in ctx.attr.deps if EtOperatorInfo in dep]
    if not selections:
        fail(NO_SELECTION_ERR.format(label = ctx.label))

    aten = ctx.attr.aten_bridge[EtAtenInfo] if ctx.attr.aten_bridge else None
    inner = [dep for dep in ctx.attr.deps if EtGeneratedLibInfo in dep]
    kernels = [target[CcInfo] for target in kernel_targets]
    libraries = [dep[CcInfo] for dep in inner]
    wide_targets = [target for target in kernel_targets if EtKernelInfo in target and target[EtKernelInfo].for_instruction_sets]
    sets = instruction_sets(ctx, with_wide = bool(wide_targets))
    wide = struct(kernels = wide_targets, selections = selections, sets = sets) if sets.wide else None
    generated = _generate(ctx, selections, declared, yamls, aten, sets if wide else None)
    if not (ctx.attr.custom_ops_requires_runtime_registration or aten or ctx.file.functions_yaml_target or
            ctx.file.fallback_yaml_target):
        return _declared(ctx, generated, kernels + libraries)
    cc = configure_cc(ctx)
    selective = None
    if ctx.attr.dtype_selective_build:
        selective = compile_selective_kernels(cc, kernel_targets, generated.manifest, selections)
        kernels = [
            CcInfo(
                compilation_context = target[CcInfo].compilation_context,
                linking_context = linking_context_beside_selected(target),
            )
            for target in kernel_targets
        ]
    adapters = bind_kernels(
        ctx,
        generated.manifest,
        kernels + ([aten.kernels] if aten else []),
        selected = selective.objects if selective else None,
        attribute = "kernel_deps",
        # PyTorch's libraries have many symbols, and none of the symbols is a kernel of a YAML.
        besides = aten.torch if aten else None,
    )
    if ctx.attr.aten_mode:
        # Generated code must not get the include paths of kernels, which include PyTorch's headers.
        kernels = [CcInfo(linking_context = info.linking_context) for info in kernels]
    compilation_contexts = [info.compilation_context for info in kernels + libraries + ([aten.headers] if aten else [])]
    headers, kernels_only = _compile_kernels(cc, generated, adapters, selective, wide, compilation_contexts, kernels)
    linking_context, archive = _compile_registration(
        cc,
        generated,
        aten,
        [headers],
        [kernels_only] + [info.linking_context for info in libraries],
    )

    return [
        DefaultInfo(
            files = depset([file for file in _headers(generated) + _registration_sources(generated) + [
                generated.aten_kernels,
                adapters,
                generated.chosen_kernels,
                generated.kernels_of_set,
            ] if file]),
            runfiles = ctx.runfiles().merge_all([
                dep[DefaultInfo].default_runfiles
                for dep in ctx.attr.kernel_deps + ctx.attr.deps + ([ctx.attr.aten_bridge] if aten else [])
            ]),
        ),
        CcInfo(compilation_context = headers, linking_context = linking_context),
        EtGeneratedLibInfo(
            headers = CcInfo(compilation_context = headers),
            kernels = CcInfo(compilation_context = headers, linking_context = kernels_only) if not aten else None,
            manifest = generated.manifest,
            typed_kernels = generated.typed_kernels_header,
            registered = depset(
                [] if ctx.attr.manual_registration else [generated.manifest],
                transitive = [dep[EtGeneratedLibInfo].registered for dep in inner],
            ),
            dtypes = depset(
                [selective.dtypes] if selective else [],
                transitive = [dep[EtGeneratedLibInfo].dtypes for dep in inner],
            ),
        ),
        OutputGroupInfo(
            # Bazel builds the archive if this target is requested. The archive is not in the default outputs: a dependent would
            # get it as a source file.
            _hidden_top_level_INTERNAL_ = depset([archive]),
            manifest = depset([generated.manifest]),
            selective_build = depset([selective.header, selective.dtypes] if selective else []),
        ),
    ]

def _generate(ctx, selections, declared, yamls, aten, sets):
    """Declares the action that generates the registration source, headers and manifest from YAMLs and selections."""
    directory = ctx.label.name + "/"
    outputs = struct(
        boxed_kernels = ctx.actions.declare_directory(directory + "boxed_kernels"),
        chosen_kernels = ctx.actions.declare_file(directory + "ChosenKernels.cpp") if sets else None,
        kernels_of_set = ctx.actions.declare_file(directory + "KernelsOfSet.cpp") if sets else None,
        kernel_table = ctx.actions.declare_file(directory + "KernelTable.cpp"),
        registration_header = ctx.actions.declare_file(directory + "RegisterKernels.h") if ctx.attr.manual_registration else None,
        registration = ctx.actions.declare_file(directory + "RegisterKernels.cpp"),
        registered_names = ctx.actions.declare_file(directory + "RegisteredNames.cpp"),
        aten_kernels = ctx.actions.declare_file(directory + "AtenKernels.cpp") if aten else None,
        native_functions = ctx.actions.declare_file(directory + "NativeFunctions.h"),
        functions = ctx.actions.declare_file(directory + "Functions.h"),
        manifest = ctx.actions.declare_file(directory + "registered.json"),
        typed_kernels_header = ctx.actions.declare_file(directory + "TypedKernels.h") if sets else None,
    )
    generate(
        ctx,
        "generate",
        inputs = [
            ("--functions_yaml", ctx.file.functions_yaml_target),
            ("--fallback_yaml", ctx.file.fallback_yaml_target),
            ("--aten_custom_ops_yaml" if ctx.attr.aten_mode else "--custom_ops_yaml", ctx.file.custom_ops_yaml_target),
            ("--aten_fallback_yaml", aten.kernels_yaml if aten else None),
        ],
        outputs = {
            "--aten_source": outputs.aten_kernels,
            "--boxed_kernels": outputs.boxed_kernels,
            "--chosen_kernels": outputs.chosen_kernels,
            "--functions": outputs.functions,
            "--kernel_table": outputs.kernel_table,
            "--kernels_of_set": outputs.kernels_of_set,
            "--manifest": outputs.manifest,
            "--native_functions": outputs.native_functions,
            "--registered_names": outputs.registered_names,
            "--registration": outputs.registration,
            "--registration_header": outputs.registration_header,
            "--typed_kernels_header": outputs.typed_kernels_header,
        },
        flags = ["--support_exceptions" if ctx.attr.support_exceptions else "--nosupport_exceptions"] +
                (["--aten_kernels"] if aten else []) +
                (["--instruction_set=" + name for name in sets.wide.keys() + [sets.plain]] if sets else []),
        declared = declared,
        kernel_yamls = yamls,
        progress_message = "Generating kernel registration for %{label}",
        selections = selections,
    )
    return outputs

def _headers(generated):
    headers = [generated.native_functions, generated.functions, generated.registration_header, generated.typed_kernels_header]
    return [header for header in headers if header]

def _registration_sources(generated):
    # Bazel links the objects of a tree artifact like those of an archive, so they come after the table, which refers to them.
    return [generated.registration, generated.registered_names, generated.kernel_table, generated.boxed_kernels]

def _declared(ctx, generated, deps):
    """Returns the providers of a library without registration, which has headers only."""
    compilation_context, _ = compile_cc(
        configure_cc(ctx),
        public_hdrs = _headers(generated),
        compilation_contexts = [find_headers(ctx).compilation_context] + [dep.compilation_context for dep in deps],
    )
    headers = CcInfo(compilation_context = compilation_context)
    return [
        DefaultInfo(files = depset(_headers(generated))),
        headers,
        EtGeneratedLibInfo(headers = headers, manifest = generated.manifest, registered = depset()),
        OutputGroupInfo(manifest = depset([generated.manifest])),
    ]

def _compile_kernels(cc, generated, adapters, selective, wide, compilation_contexts, kernels):
    """Compiles what is generated or compiled again of the kernels, for the registration and for compiled programs.

    Returns the compilation context of the headers, and the linking context of the kernels.
    """

    # Beside the other files of the library: another target may be named <name>_kernels.
    name = cc.ctx.label.name + "/kernels"
    compilation_context, adapter_objects = compile_generated(
        cc,
        srcs = [adapters],
        compilation_contexts = compilation_contexts,
        flags = isolation_flags(cc) if wide else [],
        name = name,
        public_hdrs = _headers(generated),
    )
    objects = [adapter_objects] + ([selective.objects] if selective else [])
    linking_contexts = [selective.linking_context] if selective else []
    if wide:
        objects.append(_compile_for_instruction_sets(cc, generated, adapter_objects, selective, wide, compilation_context))
        linking_contexts.append(cc.ctx.attr._instruction_set[CcInfo].linking_context)

    # Dtype-selective kernels come before the kernel libraries in the link order, so the linker takes no object with the same
    # kernel from these libraries.
    linking_context, _ = archive_cc(
        cc,
        merge_objects(objects),
        linking_contexts + [info.linking_context for info in kernels],
        name = name,
    )
    return compilation_context, linking_context

def _compile_for_instruction_sets(cc, generated, adapters, selective, wide, headers):
    """Returns the objects of the kernels for the wider instruction sets, and of the choice among all sets."""
    addresses = {
        instruction_set: compile_generated(
            cc,
            srcs = [generated.kernels_of_set],
            compilation_contexts = [headers],
            flags = isolation_flags(cc),
            name = "{}/{}".format(cc.ctx.label.name, instruction_set),
            local_defines = ["KERNELS=" + set_namespace(instruction_set)],
        )[1]
        for instruction_set in [wide.sets.plain] + wide.sets.wide.keys()
    }
    _, chosen = compile_generated(
        cc,
        srcs = [generated.chosen_kernels],
        compilation_contexts = [headers, cc.ctx.attr._instruction_set[CcInfo].compilation_context],
        name = cc.ctx.label.name + "/chosen",
    )
    wide_objects = compile_wide_kernels(
        cc,
        wide.sets,
        wide.kernels,
        manifest = generated.manifest,
        selections = wide.selections,
        by_dtype = bool(selective),
        addresses = addresses,
        adapters = adapters,
    )
    return merge_objects([chosen, addresses[wide.sets.plain], wide_objects])

def _compile_registration(cc, generated, aten, compilation_contexts, linking_contexts):
    """Returns the linking context of the library, and its archive."""
    ctx = cc.ctx
    _, objects = compile_generated(
        cc,
        srcs = _registration_sources(generated) if has_runtime(ctx) else [_no_runtime_source(ctx)],
        aten_kernels = generated.aten_kernels,
        aten = aten,
        compilation_contexts = compilation_contexts,
    )
    linking_context, library = archive_cc(
        cc,
        objects,
        linking_contexts +
        ([aten.kernels.linking_context, aten.library.linking_context] if aten else []) +
        ([find_runtime(ctx).program.linking_context] if has_runtime(ctx) else []),
        # A linker would drop a registration at program start, since no symbol refers to it.
        alwayslink = not ctx.attr.manual_registration,
    )
    return linking_context, library.static_library or library.pic_static_library

def _no_runtime_source(ctx):
    source = ctx.actions.declare_file(ctx.label.name + "/NoRuntime.cpp")
    text = _NO_RUNTIME_SOURCE.format(label = label_text(ctx.label), platform = label_text(ctx.fragments.platform.platform))
    ctx.actions.write(source, text)
    return source

_ATTRS = {
    "aten_bridge": attr.label(
        doc = "The bridge to PyTorch's own kernels, if the library uses them. The macro gives it.",
        providers = [EtAtenInfo],
    ),
    "aten_mode": attr.bool(
        doc = """Run PyTorch's operators with PyTorch's own kernels, and operators of custom_ops_yaml_target with kernels that take
`at::Tensor`. Default: False.""",
    ),
    "copts": attr.string_list(doc = "Options for the C++ compiler, for the generated sources."),
    "custom_ops_requires_runtime_registration": attr.bool(
        doc = """Whether the library registers custom operators without a functions_yaml_target. With False, such a library has
headers only, for custom operators that only PyTorch calls. Default: True.""",
        default = True,
    ),
    "custom_ops_yaml_target": attr.label(
        doc = "YAML that binds custom operators, by full schema (`func:`), to kernels.",
        allow_single_file = [".yaml", ".yml"],
    ),
    "deps": attr.label_list(
        doc = "Selections (`et_operator_library`; several are united), kernel libraries as in kernel_deps, and other generated libraries.",
        providers = [[EtOperatorInfo], [CcInfo]],
    ),
    "dtype_selective_build": attr.bool(
        doc = """Whether to compile the kernels of each `et_kernel_library` in `kernel_deps` and `deps` once more for this library, with
the selected operators' dtypes only. The kernels become smaller, except with `-c dbg`. Default: False.""",
    ),
    "fallback": attr.string(
        doc = """With "aten", operators without a YAML entry run with PyTorch's own kernels. Default: no fallback.""",
        values = ["", "aten"],
    ),
    "fallback_yaml_target": attr.label(
        doc = "As functions_yaml_target, for operators that functions_yaml_target does not have. Use it for the portable kernels beside a few kernels of your own.",
        allow_single_file = [".yaml", ".yml"],
    ),
    "functions_yaml_target": attr.label(
        doc = "YAML that binds ATen operators, by name (`op:`), to kernels.",
        allow_single_file = [".yaml", ".yml"],
    ),
    "kernel_deps": attr.label_list(
        doc = """Libraries that define the kernels: `et_kernel_library`, or any `cc_library`. For operators without an entry in a YAML
attribute, the YAMLs of the `et_kernel_library` count (`yamls`), such as those of `//kernels/portable:operators`,
`//kernels/optimized:operators` and `//kernels/quantized:operators`. In ATen mode, these YAMLs do not count.""",
        providers = [CcInfo],
    ),
    "manual_registration": attr.bool(
        doc = """Whether the program registers the kernels explicitly. `RegisterKernels.h` declares two functions in the namespace
`torch::executor`: `register_<name>_kernels()` registers the kernels for all programs, and `<name>_kernels()` returns the kernels for
the `kernel_registry` of `Module::load_method` or `Program::load_method`, for one method. In these names, `_` replaces characters that
are not allowed in C++ names, and precedes a leading digit. Two libraries may have the same function names, in two packages or as
`a-b` and `a.b`: a source calls the functions of the library whose header the source includes. Default: False.""",
    ),
    "support_exceptions": attr.bool(
        doc = """Whether an exception in a kernel, or in the conversion of its arguments, becomes a failure of the call. If not, the
exception passes through the runtime, which is not exception-safe. No effect if the toolchain compiles without exceptions.
Default: True.""",
        default = True,
    ),
    "_instruction_set": cc_dependency("//runtime:instruction_set"),
    "_selective_build": cc_dependency("//runtime:selective_build"),
}

executorch_generated_lib = rule(
    doc = "A C++ library that registers the selected operators with their kernels from the YAMLs.",
    implementation = _executorch_generated_lib_impl,
    attrs = _ATTRS | INSTRUCTION_SET_ATTRS,
    exec_groups = CODEGEN_EXEC_GROUPS | SYMBOLS_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    provides = [CcInfo, EtGeneratedLibInfo],
    toolchains = use_cc_toolchain() + use_headers(),
)
