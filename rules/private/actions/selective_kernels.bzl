"""Kernels compiled once more for one generated library, with the selected dtypes only."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("//rules/private/providers:et_kernel_info.bzl", "EtKernelInfo")
load(":cc.bzl", "archive_cc", "compile_cc", "merge_objects", "tree_compile_flags")
load(":codegen.bzl", "codegen_args", "run_codegen")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

NO_SOURCES_ERR = """{label}: dtype_selective_build = True, but no kernel_deps or deps say which file implements which operator.

Likely cause: the kernels are in a cc_library, or in an et_kernel_library without the attribute operators.
Fix: put them into an et_kernel_library with operators = {{"op_add.cpp": ["aten::add.out"]}}, or leave dtype_selective_build out.
See: docs/errors.md#no-kernel-sources"""

# ExecuTorch's own place of the header, so that kernels written for its build find it too.
_HEADER = "executorch/kernels/portable/cpu/selected_op_variants.h"

def _source_text(source):
    # Where an include finds the file, a source or a generated one.
    path = source.file.short_path
    if path.startswith("../"):
        path = "external/" + path.removeprefix("../")
    return "{}:{}:{}".format(source.group, path, ",".join(source.operators))

def compile_selective_kernels(cc, kernels, manifest, selections):
    """Compiles the sources of selected operators, of every kernel library that names its sources, for the selected dtypes.

    Which these are is only known when the selections are made, so a tree of sources is compiled.

    Args:
      cc: what configure_cc returned, of a rule with the attribute _selective_build.
      kernels: list[Target], the libraries of kernels.
      manifest: File, what `codegen generate` registers.
      selections: list[File].

    Returns:
      struct(objects: CcCompilationOutputs, linking_context: LinkingContext, header: File, dtypes: File)
    """
    ctx = cc.ctx
    sources = depset(transitive = [dep[EtKernelInfo].sources for dep in kernels if EtKernelInfo in dep]).to_list()
    if not [source for source in sources if source.operators]:
        fail(NO_SOURCES_ERR.format(label = ctx.label))

    # One tree for all sources that are compiled alike.
    groups = {}
    for source in sources:
        groups.setdefault((source.copts, source.defines), []).append(source)
    directory = ctx.label.name + "/selective_build/"
    trees = [ctx.actions.declare_directory("{}sources_{}".format(directory, i)) for i in range(len(groups))]
    header = ctx.actions.declare_file(directory + _HEADER)
    dtypes = ctx.actions.declare_file(directory + "dtypes.json")
    marks = ctx.actions.declare_file(directory + "SelectedKernels.cpp")

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
    args.add("--header", header)
    args.add("--dtypes", dtypes)
    args.add("--marks", marks)
    run_codegen(
        ctx,
        args,
        inputs = [manifest] + selections,
        outputs = trees + [header, dtypes, marks],
        mnemonic = "EtPruneKernels",
        progress_message = "Selecting dtypes of the kernels of %{label}",
    )

    selection_context = cc_common.create_compilation_context(
        headers = depset([header]),
        includes = depset([header.path.removesuffix("/" + _HEADER)]),
    )
    compiled = []
    for i, (options, group) in enumerate(groups.items()):
        _, objects = compile_cc(
            cc,
            name = "{}_kernels_{}".format(ctx.label.name, i),
            srcs = [trees[i]],
            user_compile_flags = tree_compile_flags(ctx, list(options[0])),
            local_defines = ["EXECUTORCH_SELECTIVE_BUILD_DTYPE"],
            compilation_contexts = [
                selection_context,
                ctx.attr._selective_build[CcInfo].compilation_context,
                # The original sources, which those in the tree include.
                cc_common.create_compilation_context(
                    headers = depset([source.file for source in group]),
                    quote_includes = depset([".", ctx.bin_dir.path]),
                ),
            ] + [source.compilation_context for source in group],
        )
        compiled.append(objects)
    return struct(
        objects = merge_objects(compiled),
        linking_context = _link_whole(cc, marks),
        header = header,
        dtypes = dtypes,
    )

def _link_whole(cc, source):
    """Of a source that nothing refers to, also where the kernels are registered on request."""
    name = cc.ctx.label.name + "_selected_kernels"
    _, objects = compile_cc(cc, name = name, srcs = [source])
    linking_context, _ = archive_cc(cc, objects, name = name, alwayslink = True)
    return linking_context
