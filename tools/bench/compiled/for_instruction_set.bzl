"""Rule for_instruction_set."""

visibility([
    "//tests/compiled/...",
    "//tools/bench/compiled/...",
])

_INSTRUCTION_SETS = "//rules:instruction_sets"

_instruction_set_transition = transition(
    implementation = lambda _, attr: {_INSTRUCTION_SETS: [attr.instruction_set]},
    inputs = [],
    outputs = [_INSTRUCTION_SETS],
)

def _for_instruction_set_impl(ctx):
    files = depset(transitive = [target[DefaultInfo].files for target in ctx.attr.targets])
    runfiles = ctx.runfiles(transitive_files = files)
    return [DefaultInfo(
        files = files,
        runfiles = runfiles.merge_all([target[DefaultInfo].default_runfiles for target in ctx.attr.targets]),
    )]

for_instruction_set = rule(
    doc = "Targets whose kernels are built for one instruction set only, for the data of a benchmark or a test.",
    implementation = _for_instruction_set_impl,
    attrs = {
        "instruction_set": attr.string(
            doc = "The instruction set.",
            mandatory = True,
        ),
        "targets": attr.label_list(
            doc = "The targets.",
            cfg = _instruction_set_transition,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
