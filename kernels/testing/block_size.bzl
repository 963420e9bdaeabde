"""Rule with_block_size."""

def _block_size_transition_impl(_settings, attr):
    return {"//kernels/parallel:block_size": attr.block_size}

_block_size_transition = transition(
    implementation = _block_size_transition_impl,
    inputs = [],
    outputs = ["//kernels/parallel:block_size"],
)

def _with_block_size_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = ctx.executable.program, is_executable = True)
    return [DefaultInfo(
        executable = program,
        runfiles = ctx.attr.program[0][DefaultInfo].default_runfiles,
    )]

with_block_size = rule(
    doc = "A program that is compiled with a value of `//kernels/parallel:block_size`.",
    implementation = _with_block_size_impl,
    attrs = {
        "block_size": attr.string(
            doc = "The value of the setting.",
            mandatory = True,
        ),
        "program": attr.label(
            doc = "The program.",
            cfg = _block_size_transition,
            executable = True,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)
