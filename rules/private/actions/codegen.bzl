"""How the rules run the code generator."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("//rules/private/toolchains:toolchain_types.bzl", "CODEGEN_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

# The exec groups of rules that run the code generator. Actions of `symbols` run the C++ toolchain's nm besides.
CODEGEN_EXEC_GROUPS = {"codegen": exec_group(toolchains = [CODEGEN_TOOLCHAIN_TYPE])}
SYMBOLS_EXEC_GROUPS = {"symbols": exec_group(toolchains = [CODEGEN_TOOLCHAIN_TYPE] + use_cc_toolchain(mandatory = True))}

LINE_BREAK_ERR = """{label}: attribute {attribute} has a line break in {value}.

Likely cause: several values were given as one text, or were read from a file with its line ends.
Fix: give each value as a text of its own, without line breaks.
See: docs/errors.md#line-break"""

def one_line_each(ctx, attribute):
    """The value of an attribute whose texts become lines of codegen_args; fails where one would become several.

    Args:
      ctx: the rule's context.
      attribute: str, the name of an attribute with a text, with texts, or with lists of texts by texts.
    Returns:
      the value
    """
    value = getattr(ctx.attr, attribute)
    texts = [value] if type(value) == "string" else list(value)
    if type(value) == "dict":
        for several in value.values():
            texts += several
    for text in texts:
        if "\n" in text or "\r" in text:
            fail(LINE_BREAK_ERR.format(label = ctx.label, attribute = attribute, value = json.encode(text)))
    return value

def codegen_args(ctx, command):
    """The beginning of a command line for run_codegen, which passes the command line in a file, as a worker needs.

    Add files as File, never as text, so that Bazel can map their paths. What a user wrote goes in one line with its
    flag (`format_each = "--ops=%s"`): a line of its own that begins with "@" would name a file. Labels and files have no
    line breaks, JSON escapes them, and `one_line_each` refuses them in all else.

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
