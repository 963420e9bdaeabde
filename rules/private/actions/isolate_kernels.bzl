"""Object files of which the linker sees some symbols only."""

load(":cc.bzl", "group_cc_toolchain")

visibility(["//rules/..."])

def isolation_flags(cc):
    """Options for the C++ compiler, for the object files that isolate_kernels takes.

    Args:
      cc: what configure_cc returned.
    Returns:
      list[str]
    """

    # GCC makes static variables of inline functions unique in a process, which objcopy leaves as they are.
    return [] if cc.toolchain.compiler.startswith("clang") else ["-fno-gnu-unique"]

def isolate_kernels(cc, name, objects, archives, symbols):
    """Links object files into one in which everything is local but some symbols.

    What a compiler emits for an instruction set may also be an inline function of a header: of several with one name, a linker
    keeps any, which a processor without that instruction set would then run. Here, none has a name outside.

    Args:
      cc: what configure_cc returned, of a rule with CC_LINK_EXEC_GROUPS.
      name: str, of the object file, without its ending.
      objects: list[File], which the object file has all of.
      archives: list[File], of which it has what the objects need.
      symbols: str, a wildcard for these symbols.
    Returns:
      File
    """
    ctx = cc.ctx
    toolchain = group_cc_toolchain(ctx, "cpp_link")
    linked = ctx.actions.declare_file("{}/{}_linked.o".format(ctx.label.name, name))
    args = ctx.actions.args()

    # A section group is one that a linker drops for another of its name.
    args.add_all(["-r", "--force-group-allocation", "-o", linked])
    args.add_all(objects)
    args.add("--start-group")
    args.add_all(archives)
    args.add("--end-group")
    ctx.actions.run(
        executable = toolchain.ld_executable,
        arguments = [args],
        exec_group = "cpp_link",
        inputs = depset(objects + archives, transitive = [toolchain.all_files]),
        outputs = [linked],
        mnemonic = "EtLinkKernels",
        progress_message = "Linking kernels of %{label} into %{output}",
    )
    isolated = ctx.actions.declare_file("{}/{}.o".format(ctx.label.name, name))
    args = ctx.actions.args()
    args.add("--wildcard")
    args.add(symbols, format = "--keep-global-symbol=%s")
    args.add_all([linked, isolated])
    ctx.actions.run(
        executable = toolchain.objcopy_executable,
        arguments = [args],
        exec_group = "cpp_link",
        inputs = depset([linked], transitive = [toolchain.all_files]),
        outputs = [isolated],
        mnemonic = "EtIsolateKernels",
        progress_message = "Hiding the symbols of %{output}",
    )
    return isolated
