"""Rule for_platform."""

_PLATFORMS = "//command_line_option:platforms"
_INSTRUCTION_SETS = "//rules:instruction_sets"

# The instruction sets of a build are those of its own processor.
_platform_transition = transition(
    implementation = lambda _, attr: {_INSTRUCTION_SETS: ["all"], _PLATFORMS: [str(attr.platform)]},
    inputs = [],
    outputs = [_INSTRUCTION_SETS, _PLATFORMS],
)

def _for_platform_impl(ctx):
    # With a transition, an attribute of one label is a list.
    target = ctx.attr.target[0][DefaultInfo]
    return [DefaultInfo(
        files = target.files,
        runfiles = ctx.runfiles(transitive_files = target.files).merge(target.default_runfiles),
    )]

for_platform = rule(
    doc = "A target as it is built for another platform, as data of a test.",
    implementation = _for_platform_impl,
    attrs = {
        "platform": attr.label(
            doc = "The platform.",
            mandatory = True,
        ),
        "target": attr.label(
            doc = "The target.",
            cfg = _platform_transition,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
