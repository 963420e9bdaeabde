"""Rule et_kernel_library."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "FEATURES_OF_OWN_SOURCES", "SOURCES_PER_UNIT", "archive_cc", "compile_cc", "configure_cc", "include_roots", "unity_sources")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:implicit_attributes.bzl", "cc_dependency")
load("//rules/private/actions:instruction_sets.bzl", "INSTRUCTION_SET_ATTRS", "instruction_sets")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:param_file.bzl", "one_line_each")
load("//rules/private/actions:wide_kernels.bzl", "compile_shared")
load("//rules/private/providers:et_kernel_info.bzl", "EtKernelInfo", "linking_context_beside_selected")
load("//rules/private/toolchains:find_runtime.bzl", "find_headers", "use_headers")

visibility(["//rules/..."])

UNMAPPED_SOURCE_ERR = """{label}: attribute operators: expected the operators of {file}, since links_selected_only = True; found none.

Likely cause: the file was added to srcs and not to operators, or has code that operators share.
Fix: name the operators of {file} in operators; move code that operators share into a library of its own; or remove links_selected_only.
See: docs/errors.md#unmapped-source"""

NOT_A_SOURCE_ERR = """{label}: attribute operators: expected files of srcs as keys; got {file}.

Likely cause: the file was renamed, or the key lacks the ending of the file.
Fix: use one of {srcs} as key.
See: docs/errors.md#not-a-source"""

def _declared(ctx, objects):
    """Declares the action that collects the operators that the sources declare."""
    declared = ctx.actions.declare_file(ctx.label.name + ".declared.json")
    files = objects.objects or objects.pic_objects
    args = codegen_args(ctx, "collect")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add_all(files, format_each = "--object=%s")
    args.add(declared, format = "--output=%s")
    run_codegen(
        ctx,
        args,
        inputs = files,
        outputs = [declared],
        mnemonic = "EtCollect",
        progress_message = "Finding operators that %{label} declares",
    )
    return declared

def _et_kernel_library_impl(ctx):
    sources = {src.basename: src for src in ctx.files.srcs}
    for file in ctx.attr.operators:
        if file not in sources:
            fail(NOT_A_SOURCE_ERR.format(label = ctx.label, file = file, srcs = ", ".join(sources)))

    if ctx.attr.links_selected_only:
        for file in sources:
            if not ctx.attr.operators.get(file):
                fail(UNMAPPED_SOURCE_ERR.format(label = ctx.label, file = file))

    cc = configure_cc(ctx, FEATURES_OF_OWN_SOURCES if ctx.attr.unity_build else [])
    kernel_includes = find_headers(ctx)
    deps = [dep[CcInfo] for dep in ctx.attr.deps]
    copts = ctx.attr.copts
    if ctx.attr.declares_operators:
        deps = deps + [ctx.attr._operator[CcInfo]]

        # Without this macro, operator.h does not compile, so that no declaration is overlooked.
        copts = copts + ["-DRULES_EXECUTORCH_DECLARES_OPERATORS"]
    compilation_contexts = [kernel_includes.compilation_context] + [dep.compilation_context for dep in deps]
    operator_srcs = [source for source in ctx.files.srcs if source.basename in ctx.attr.operators]
    shared_srcs = [source for source in ctx.files.srcs if source.basename not in ctx.attr.operators]
    if ctx.attr.unity_build:
        compilation_contexts.append(include_roots(ctx, ctx.files.srcs))
        operator_srcs = unity_sources(ctx, operator_srcs, -(-len(operator_srcs) // SOURCES_PER_UNIT))
        shared_srcs = unity_sources(ctx, shared_srcs)
    sets = instruction_sets(ctx)
    compilation_context, objects = compile_cc(
        cc,
        srcs = operator_srcs + shared_srcs,
        public_hdrs = ctx.files.hdrs,
        user_compile_flags = copts + sets.plain_flags,
        defines = ctx.attr.defines,
        compilation_contexts = compilation_contexts,
    )
    shared = compile_shared(
        cc,
        sets,
        srcs = shared_srcs,
        private_hdrs = ctx.files.hdrs,
        user_compile_flags = copts,
        defines = ctx.attr.defines,
        compilation_contexts = compilation_contexts,
    )
    linking_context, library = archive_cc(
        cc,
        objects,
        [ctx.attr._required_instruction_set[CcInfo].linking_context] + [dep.linking_context for dep in deps],
    )
    if ctx.files.srcs and not ctx.attr.links_selected_only:
        beside_selected = [linking_context]
    else:
        beside_selected = [linking_context_beside_selected(dep) for dep in ctx.attr.deps]
    own = [
        struct(
            file = sources[file],
            operators = tuple(operators),
            compilation_context = compilation_context,
            copts = tuple(copts),
            defines = tuple(compilation_context.defines.to_list()),
            unity_build = ctx.attr.unity_build,
        )
        for file, operators in one_line_each(ctx, "operators").items()
    ]
    inner = [dep[EtKernelInfo] for dep in ctx.attr.deps if EtKernelInfo in dep]
    return [
        DefaultInfo(files = depset([f for f in [library.static_library, library.pic_static_library] if f] if library else [])),
        CcInfo(compilation_context = compilation_context, linking_context = linking_context),
        EtKernelInfo(
            declared_operators = depset(
                [_declared(ctx, objects)] if ctx.attr.declares_operators else [],
                transitive = [info.declared_operators for info in inner],
            ),
            for_instruction_sets = ctx.attr.for_instruction_sets,
            linking_context = cc_common.merge_cc_infos(cc_infos = [
                CcInfo(linking_context = context)
                for context in beside_selected
            ]).linking_context,
            lists_all_sources = ctx.attr.links_selected_only,
            shared = depset(shared, transitive = [info.shared for info in inner]),
            sources = depset(own, transitive = [info.sources for info in inner]),
            yamls = depset(ctx.files.yamls, transitive = [info.yamls for info in inner]),
        ),
    ]

et_kernel_library = rule(
    doc = """A C++ library of kernels, with the operators that each file implements.

The library implicitly depends on the runtime's `kernel_includes`. The sources are compiled as C++17 and, unless with `-c dbg`,
with `-O2`. `copts`, the command line and the toolchain may override these options.

A plain `cc_library` that depends on `//runtime:kernel_includes` can be in `kernel_deps`, too. This rule adds the map from
files to operators. A dtype-selective build compiles the mapped files once more, with the selected dtypes only.
docs/dtype_selection.md explains how a kernel leaves out dtypes.""",
    implementation = _et_kernel_library_impl,
    attrs = INSTRUCTION_SET_ATTRS | {
        "copts": attr.string_list(doc = "Options for the C++ compiler."),
        "declares_operators": attr.bool(
            doc = """Whether the sources declare operators with `EXECUTORCH_OPERATOR` of `runtime/operator.h`. An
`executorch_generated_lib` with this library in its `kernel_deps` treats these operators as the operators of a
custom_ops.yaml. Default: False.""",
        ),
        "defines": attr.string_list(doc = "Preprocessor definitions, for this library and its dependents."),
        "deps": attr.label_list(
            doc = "C++ libraries, and other kernel libraries.",
            providers = [CcInfo],
        ),
        "for_instruction_sets": attr.bool(
            doc = """Whether an `executorch_generated_lib` with this library in its `kernel_deps` compiles the selected operators'
files once more for each instruction set of the flag `//rules:instruction_sets`, and chooses the kernels when the program runs. The
files are those in `operators` of this library and of the kernel libraries in its `deps`. By default, the flag has all instruction
sets in docs/optimized_kernels.md. This has an effect for Linux on x86-64 or arm64. Global variables of these files, and of
shared files, exist once for each instruction set. Default: False.""",
        ),
        "hdrs": attr.label_list(
            doc = "Headers.",
            allow_files = [".h"],
        ),
        "links_selected_only": attr.bool(
            doc = """Whether a generated library with `dtype_selective_build` links only the files of this library that it compiles for the
selected operators, so that the build does not compile the other files. `operators` must have each file with all operators that
the file implements, and no other file may call the file's functions. Default: False, which also links this library.""",
        ),
        "operators": attr.string_list_dict(
            doc = """The operators that each file implements, e.g. `{"op_add.cpp": ["aten::add.out"]}`. A file that operators share
and that uses `should_include_dtype` has an empty list.""",
        ),
        "srcs": attr.label_list(
            doc = "Kernel sources.",
            allow_files = [".cpp", ".cc"],
        ),
        "unity_build": attr.bool(
            doc = """Whether a translation unit may include several sources, as with CMake's `UNITY_BUILD`. Compilation takes less time,
since the compiler reads headers once. One translation unit has all sources without operators, the others have a few files of operators
each. A generated library that compiles the selected operators' files puts files of several libraries with `unity_build` into a
translation unit. Functions, types and constants in anonymous namespaces need names that are unique in all these files. Default: False.""",
        ),
        "yamls": attr.label_list(
            doc = """YAMLs that bind operators to kernels of this library and of its `deps`: PyTorch's operators by name (`op:`), custom
operators by schema (`func:`). An `executorch_generated_lib` with this library in its `kernel_deps` needs no YAML attribute for
these operators. A YAML attribute of the generated library takes precedence.""",
            allow_files = [".yaml", ".yml"],
        ),
        "_operator": cc_dependency("//runtime:operator"),
        "_required_instruction_set": cc_dependency("//runtime:required_instruction_set"),
    },
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    provides = [CcInfo, EtKernelInfo],
    toolchains = use_cc_toolchain() + use_headers(),
)
