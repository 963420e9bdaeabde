"""How the rules run the code generator."""

load("//rules/private/toolchains:toolchains.bzl", "CODEGEN_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

def codegen_args(ctx, command):
    """The beginning of a command line for run_codegen, which passes it in a file, as a worker needs.

    Add files as File, never as text, so that Bazel can map their paths. What a user wrote goes in one line with its
    flag (`format_each = "--ops=%s"`): a line of its own that begins with "@" would name a file.

    Args:
      ctx: the rule's context.
      command: str, the subcommand.
    Returns:
      Args
    """
    args = ctx.actions.args()
    args.add(command)
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    return args

def run_codegen(ctx, args, **kwargs):
    """Registers an action that runs the code generator, in a worker where the build has one.

    Args:
      ctx: the context of a rule with CODEGEN_TOOLCHAIN_TYPE.
      args: what codegen_args began.
      **kwargs: inputs, outputs, mnemonic, progress_message of ctx.actions.run.
    """
    toolchain = ctx.toolchains[CODEGEN_TOOLCHAIN_TYPE]
    ctx.actions.run(
        executable = toolchain.codegen,
        # The sandbox of a multiplex worker has no directories of runfiles.
        tools = toolchain.codegen_files,
        arguments = [args],
        execution_requirements = toolchain.execution_requirements,
        toolchain = CODEGEN_TOOLCHAIN_TYPE,
        **kwargs
    )
