"""Kernels compiled once more for one generated library: those that it selects, possibly with the selected dtypes only."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/providers:et_kernel_info.bzl", "EtKernelInfo")
load(":cc.bzl", "FEATURES_OF_OWN_SOURCES", "SOURCES_PER_UNIT", "archive_cc", "compile_cc", "configure_cc", "include_path", "include_roots", "merge_objects", "tree_compile_flags")
load(":codegen.bzl", "codegen_args", "run_codegen")
load(":instruction_sets.bzl", "instruction_sets")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

NO_SOURCES_ERR = """{label}: attribute dtype_selective_build: expected kernel_deps or deps with operators by source file; got none.

Likely cause: the kernels are in a cc_library, or in an et_kernel_library without the attribute operators.
Fix: put the kernels into an et_kernel_library with operators = {{"op_add.cpp": ["aten::add.out"]}}, or remove dtype_selective_build.
See: docs/errors.md#no-kernel-sources"""

# ExecuTorch's own place of the header, so that kernels written for its build find it too.
_HEADER = "executorch/kernels/portable/cpu/selected_op_variants.h"

def _source_text(source):
    return "{}:{}:{}".format(source.group, include_path(source.file), ",".join(source.operators))

def select_kernels(ctx, kernels, manifest, selections, by_dtype, directory):
    """The sources of selected operators, of every kernel library that names its sources.

    Which these are is only known when the selections are made, so trees of sources are made, one for all sources that are
    compiled alike.

    Args:
      ctx: of a rule with CODEGEN_EXEC_GROUPS.
      kernels: list[Target], the libraries of kernels.
      manifest: File, what `codegen generate` registers.
      selections: list[File].
      by_dtype: bool, whether the kernels have the selected dtypes only.
      directory: str, where to make the trees.

    Returns:
      struct(trees: list[struct(tree: File, copts: tuple[str], sources: list[struct])], header: File, dtypes: File, marks: File):
        the latter three None unless by_dtype.
    """
    sources = depset(transitive = [dep[EtKernelInfo].sources for dep in kernels if EtKernelInfo in dep]).to_list()
    if not [source for source in sources if source.operators]:
        fail(NO_SOURCES_ERR.format(label = ctx.label))
    groups = {}
    for source in sources:
        groups.setdefault((source.copts, source.defines, source.unity_build), []).append(source)
    directory = "{}/{}/".format(ctx.label.name, directory)
    trees = [ctx.actions.declare_directory("{}sources_{}".format(directory, i)) for i in range(len(groups))]
    header = ctx.actions.declare_file(directory + _HEADER) if by_dtype else None
    dtypes = ctx.actions.declare_file(directory + "dtypes.json") if by_dtype else None
    marks = ctx.actions.declare_file(directory + "SelectedKernels.cpp") if by_dtype else None

    args = codegen_args(ctx, "prune")
    args.add("--label", label_text(ctx.label))
    args.add("--manifest", manifest)
    args.add_all(selections, before_each = "--selection")
    args.add_all(
        [
            struct(group = i, file = source.file, operators = source.operators)
            for i, group in enumerate(groups.values())
            for source in group
        ],
        format_each = "--source=%s",
        map_each = _source_text,
    )
    args.add_all(trees, before_each = "--directory", expand_directories = False)
    args.add_all([i for i, (_, _, unity_build) in enumerate(groups) if unity_build], before_each = "--unity_build")
    args.add("--sources_per_unit", SOURCES_PER_UNIT)
    if by_dtype:
        args.add("--header", header)
        args.add("--dtypes", dtypes)
        args.add("--marks", marks)
    run_codegen(
        ctx,
        args,
        inputs = [manifest] + selections,
        outputs = trees + ([header, dtypes, marks] if by_dtype else []),
        mnemonic = "EtPruneKernels",
        progress_message = "Selecting kernels of %{label}",
    )
    return struct(
        trees = [
            struct(tree = trees[i], copts = list(key[0]), sources = groups[key])
            for i, key in enumerate(groups)
        ],
        header = header,
        dtypes = dtypes,
        marks = marks,
    )

def compile_selected(cc, selected, name, flags = []):
    """Compiles what select_kernels selected.

    Args:
      cc: what configure_cc returned, of a rule with the attribute _selective_build.
      selected: what select_kernels returned.
      name: str, what directories of object files begin with.
      flags: list[str], options beside those of the kernel libraries.
    Returns:
      CcCompilationOutputs
    """
    ctx = cc.ctx
    cc = configure_cc(ctx, FEATURES_OF_OWN_SOURCES)
    by_dtype = []
    if selected.header:
        by_dtype = [
            cc_common.create_compilation_context(
                headers = depset([selected.header]),
                includes = depset([selected.header.path.removesuffix("/" + _HEADER)]),
            ),
            ctx.attr._selective_build[CcInfo].compilation_context,
        ]
    compiled = []
    for i, each in enumerate(selected.trees):
        _, objects = compile_cc(
            cc,
            name = "{}_kernels_{}".format(name, i),
            srcs = [each.tree],
            user_compile_flags = tree_compile_flags(ctx, each.copts + flags),
            local_defines = ["EXECUTORCH_SELECTIVE_BUILD_DTYPE"] if by_dtype else [],
            compilation_contexts = by_dtype + [
                # The original sources, which those in the tree include.
                include_roots(ctx, [source.file for source in each.sources]),
            ] + [source.compilation_context for source in each.sources],
        )
        compiled.append(objects)
    return merge_objects(compiled)

def compile_selective_kernels(cc, kernels, manifest, selections):
    """Compiles the sources of selected operators, of every kernel library that names its sources, for the selected dtypes.

    Args:
      cc: what configure_cc returned, of a rule with the attribute _selective_build.
      kernels: list[Target], the libraries of kernels.
      manifest: File, what `codegen generate` registers.
      selections: list[File].

    Returns:
      struct(objects: CcCompilationOutputs, linking_context: LinkingContext, header: File, dtypes: File)
    """
    selected = select_kernels(cc.ctx, kernels, manifest, selections, by_dtype = True, directory = "selective_build")
    return struct(
        objects = compile_selected(cc, selected, cc.ctx.label.name, instruction_sets(cc.ctx).plain_flags),
        linking_context = _link_whole(cc, selected.marks),
        header = selected.header,
        dtypes = selected.dtypes,
    )

def _link_whole(cc, source):
    """Of a source that nothing refers to, also where the kernels are registered on request."""
    name = cc.ctx.label.name + "_selected_kernels"
    _, objects = compile_cc(cc, name = name, srcs = [source])
    linking_context, _ = archive_cc(cc, objects, name = name, alwayslink = True)
    return linking_context
