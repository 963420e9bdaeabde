"""How the rules run the code generator."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("//rules/private/toolchains:toolchain_types.bzl", "CODEGEN_TOOLCHAIN_TYPE")
load(":param_file.bzl", "param_file_args")

visibility(["//rules/..."])

# The exec groups of rules that run the code generator. Actions of `symbols` run the C++ toolchain's nm besides.
CODEGEN_EXEC_GROUPS = {"codegen": exec_group(toolchains = [CODEGEN_TOOLCHAIN_TYPE])}
SYMBOLS_EXEC_GROUPS = {"symbols": exec_group(toolchains = [CODEGEN_TOOLCHAIN_TYPE] + use_cc_toolchain(mandatory = True))}

def codegen_args(ctx, command):
    """The beginning of a command line for run_codegen, as `param_file_args` has it.

    Args:
      ctx: the rule's context.
      command: str, the subcommand.
    Returns:
      Args
    """
    args = param_file_args(ctx)
    args.add(command)
    return args

def run_codegen(ctx, args, exec_group = "codegen", **kwargs):
    """Registers an action that runs the code generator, in a worker where the build has one.

    Args:
      ctx: the context of a rule with the exec group.
      args: what codegen_args began.
      exec_group: str, a group with CODEGEN_TOOLCHAIN_TYPE.
      **kwargs: inputs, outputs, mnemonic, progress_message of ctx.actions.run.
    """
    toolchain = ctx.exec_groups[exec_group].toolchains[CODEGEN_TOOLCHAIN_TYPE]
    ctx.actions.run(
        executable = toolchain.codegen,
        # The sandbox of a multiplex worker has no directories of runfiles.
        tools = toolchain.codegen_files,
        arguments = [args],
        exec_group = exec_group,
        execution_requirements = toolchain.execution_requirements,
        toolchain = CODEGEN_TOOLCHAIN_TYPE,
        **kwargs
    )
