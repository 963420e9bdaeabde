"""How CUDA is compiled."""

visibility(["//rules/..."])

def compile_cuda(ctx, toolkit, cc_toolchain, source, compilation_context, defines, cxx_standard, copts):
    """Compiles one CUDA source to an object file.

    Args:
      ctx: the rule's context.
      toolkit: CudaToolkitInfo.
      cc_toolchain: whose compiler nvcc uses for the host's part.
      source: File.
      compilation_context: CompilationContext of all that the source includes.
      defines: list[str], beside those of the compilation context.
      cxx_standard: str, e.g. c++20.
      copts: list[str], options for nvcc.
    Returns:
      File
    """
    object = ctx.actions.declare_file("_objs/{}/{}.pic.o".format(ctx.label.name, source.short_path.removeprefix("../")))
    args = ctx.actions.args()
    args.add("-c", source)
    args.add("-o", object)
    args.add(cxx_standard, format = "-std=%s")
    args.add(cc_toolchain.compiler_executable, format = "-ccbin=%s")
    args.add_all(["-Xcompiler=-fPIC", "-O3"])
    args.add_all(compilation_context.includes, format_each = "-I%s")
    args.add_all(compilation_context.quote_includes, format_each = "-I%s")
    args.add_all(
        depset(transitive = [compilation_context.system_includes, compilation_context.external_includes]),
        before_each = "-isystem",
    )
    args.add_all(compilation_context.defines, format_each = "-D%s")
    args.add_all(defines, format_each = "-D%s")
    args.add_all(copts)
    ctx.actions.run(
        executable = toolkit.home + "/bin/nvcc",
        arguments = [args],
        inputs = depset([source], transitive = [compilation_context.headers, cc_toolchain.all_files]),
        outputs = [object],
        use_default_shell_env = True,
        mnemonic = "EtCudaCompile",
        progress_message = "Compiling {} for %{{label}}".format(source.short_path),
    )
    return object
