"""Rules of programs that are built with a value of a setting: with_block_size, with_instruction_sets."""

def _program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = ctx.executable.program, is_executable = True)
    return [DefaultInfo(
        executable = program,
        runfiles = ctx.attr.program[0][DefaultInfo].default_runfiles,
    )]

def _rule_of(setting, attribute, type):
    """A rule of a program that is built with a value of a setting.

    Args:
      setting: str, the label of the setting.
      attribute: str, the name of the attribute with the value.
      type: function, the type of the attribute, such as attr.string.
    Returns:
      rule
    """
    return rule(
        doc = "A program that is built with a value of `{}`.".format(setting),
        implementation = _program_impl,
        attrs = {
            attribute: type(
                doc = "The value of the setting.",
                mandatory = True,
            ),
            "program": attr.label(
                doc = "The program.",
                cfg = transition(
                    implementation = lambda _settings, attr: {setting: getattr(attr, attribute)},
                    inputs = [],
                    outputs = [setting],
                ),
                executable = True,
                mandatory = True,
            ),
            "_allowlist_function_transition": attr.label(
                default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
            ),
        },
        executable = True,
    )

with_block_size = _rule_of("//kernels/parallel:block_size", "block_size", attr.string)
with_instruction_sets = _rule_of("//rules:instruction_sets", "instruction_sets", attr.string_list)
