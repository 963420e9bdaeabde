"""Rule with_instruction_sets."""

def _instruction_sets_transition_impl(_settings, attr):
    return {"//rules:instruction_sets": attr.instruction_sets}

_instruction_sets_transition = transition(
    implementation = _instruction_sets_transition_impl,
    inputs = [],
    outputs = ["//rules:instruction_sets"],
)

def _with_instruction_sets_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = ctx.executable.program, is_executable = True)
    return [DefaultInfo(
        executable = program,
        runfiles = ctx.attr.program[0][DefaultInfo].default_runfiles,
    )]

with_instruction_sets = rule(
    doc = "A program that is built with a value of `//rules:instruction_sets`.",
    implementation = _with_instruction_sets_impl,
    attrs = {
        "instruction_sets": attr.string_list(
            doc = "The value of the setting.",
            mandatory = True,
        ),
        "program": attr.label(
            doc = "The program.",
            cfg = _instruction_sets_transition,
            executable = True,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)
