"""The sources that the code generator writes for a library of operators, and how they are compiled."""

load("//rules/private/toolchains:find_runtime.bzl", "find_headers", "find_runtime", "has_runtime")
load("//rules/private/toolchains:registry_size.bzl", "DEFAULT_MAX_KERNELS")
load(":cc.bzl", "compile_cc", "merge_objects", "tree_compile_flags")
load(":codegen.bzl", "codegen_args", "run_codegen")
load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

def generate(ctx, command, inputs, outputs, flags, declared, progress_message, kernel_yamls = [], selections = []):
    """Runs `codegen generate` or `codegen generate_torch`.

    Args:
      ctx: of a rule with CODEGEN_EXEC_GROUPS and use_headers().
      command: str, the subcommand.
      inputs: list[(str, File or None)], flags with the YAMLs that they name.
      outputs: dict[str, File or None], flags with what they name; without what is None.
      flags: list[str], what else is asked for.
      declared: list[File], the operators that kernel libraries declare in C++.
      progress_message: str.
      kernel_yamls: list[File], those that kernel libraries bring along.
      selections: list[File].
    """
    inputs = [(flag, file) for flag, file in inputs if file]
    outputs = {flag: file for flag, file in outputs.items() if file}
    args = codegen_args(ctx, command)
    args.add_all(flags)
    args.add("--label", label_text(ctx.label))
    args.add(find_runtime(ctx).max_kernels if has_runtime(ctx) else DEFAULT_MAX_KERNELS, format = "--max_kernels=%s")
    for flag, file in inputs:
        args.add(flag, file)
    args.add_all(declared, format_each = "--declared_operators=%s")
    args.add_all(kernel_yamls, format_each = "--kernel_yaml=%s")
    args.add_all(selections, before_each = "--selection")
    for flag, file in outputs.items():
        # A directory is not expanded, since it has nothing in it yet.
        args.add_all([file], before_each = flag, expand_directories = False)
    run_codegen(
        ctx,
        args,
        inputs = [file for _, file in inputs] + declared + kernel_yamls + selections,
        outputs = outputs.values(),
        mnemonic = "EtGenerate",
        progress_message = progress_message,
    )

def compile_generated(cc, srcs, compilation_contexts, aten_kernels = None, aten = None, flags = [], **kwargs):
    """Compiles what the code generator wrote.

    Args:
      cc: what configure_cc returned, of a rule with the attribute copts and use_headers().
      srcs: list[File or None], sources that include nothing of PyTorch, in the order of linking.
      compilation_contexts: list[CompilationContext], of what the sources in srcs include beside the runtime.
      aten_kernels: File or None, the source that calls PyTorch's operators.
      aten: EtAtenInfo, or None without aten_kernels.
      flags: list[str], options for srcs beside the attribute's.
      **kwargs: name, local_defines, public_hdrs, private_hdrs, disallow_nopic_outputs of cc_common.compile, for srcs.
    Returns:
      (CompilationContext, CcCompilationOutputs)
    """
    ctx = cc.ctx
    runtime = find_runtime(ctx).program if has_runtime(ctx) else find_headers(ctx)
    compilation_context, objects = compile_cc(
        cc,
        srcs = [source for source in srcs if source],
        user_compile_flags = tree_compile_flags(ctx, ctx.attr.copts + flags),
        compilation_contexts = [runtime.compilation_context] + compilation_contexts,
        **kwargs
    )
    if not aten_kernels:
        return compilation_context, objects

    # Alone, so that nothing else waits for PyTorch's headers.
    _, aten_objects = compile_cc(
        cc,
        name = ctx.label.name + "_aten",
        srcs = [aten_kernels],
        user_compile_flags = ctx.attr.copts,
        # PyTorch's headers come first: ExecuTorch brings older copies of some.
        compilation_contexts = [
            aten.torch.compilation_context,
            runtime.compilation_context,
            aten.headers.compilation_context,
        ],
        disallow_nopic_outputs = kwargs.get("disallow_nopic_outputs", False),
    )
    return compilation_context, merge_objects([objects, aten_objects])
