"""The CUDA toolkit of the machine as a target, and how its compiler is run."""

load("@rules_cc//cc:defs.bzl", "CcInfo")

NO_TOOLKIT_ERR = """{label} has sources in CUDA, {sources}, and this machine has no CUDA toolkit.

Likely cause: srcs is a select(), in which torch_op_library does not see them; otherwise the target would be skipped.
Fix: set target_compatible_with = ["@rules_executorch//rules:cuda"] where srcs has them, or install the toolkit and name its folder
with --repo_env=CUDA_HOME=...
See: docs/errors.md#no-cuda-toolkit"""

CudaToolkitInfo = provider(
    doc = "A CUDA toolkit that is installed on the machine, as its C++ compiler may be.",
    fields = {
        "home": "str: the directory that holds bin/nvcc; empty if there is none.",
        "runtime": "CcInfo: libcudart.",
    },
)

def _cuda_toolkit_impl(ctx):
    return [CudaToolkitInfo(home = ctx.attr.home, runtime = ctx.attr.runtime[CcInfo])]

cuda_toolkit = rule(
    doc = "The CUDA toolkit of the machine.",
    implementation = _cuda_toolkit_impl,
    attrs = {
        "home": attr.string(doc = "The directory that holds bin/nvcc."),
        "runtime": attr.label(
            doc = "libcudart.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
    provides = [CudaToolkitInfo],
)

def toolkit_for(label, sources, toolkit, fail = fail):
    """The toolkit that sources need.

    Args:
      label: Label of the library.
      sources: list[File], the sources in CUDA.
      toolkit: CudaToolkitInfo.
      fail: what to call with a message.
    Returns:
      CudaToolkitInfo, or None without sources or after a failure.
    """
    if sources and not toolkit.home:
        return fail(NO_TOOLKIT_ERR.format(label = label, sources = ", ".join([source.basename for source in sources])))
    return toolkit if sources else None

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
