"""Writes launchers of Python programs that run in their runfiles."""

load(":label_text.bzl", "label_text")

visibility(["//rules/..."])

_LAUNCHER = """\
#!/bin/sh
# Generated for {label}.
cd "${{TEST_SRCDIR:-${{RUNFILES_DIR:-$0.runfiles}}}}/{workspace}" || exit 1
exec {command} "$@"
"""

def _quote(text):
    return "'" + text.replace("'", "'\\''") + "'"

def tool_launcher(ctx, arguments):
    """Writes the executable of a target, which runs the program of the attribute `_tool` in the target's runfiles.

    Args:
      ctx: the rule's context.
      arguments: list[str], the arguments of the program.
    Returns:
      File
    """
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            command = " ".join([_quote(argument) for argument in [ctx.executable._tool.short_path] + arguments]),
            label = label_text(ctx.label),
            workspace = ctx.workspace_name,
        ),
        is_executable = True,
    )
    return launcher
