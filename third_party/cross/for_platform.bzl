"""Rule for_platform."""

_COPTS = "//command_line_option:copt"
_PLATFORMS = "//command_line_option:platforms"
_INSTRUCTION_SETS = "//rules:instruction_sets"
_OPTIMIZE = "//rules:optimize"

# The flag instruction_sets of the command line is for the host processor, so the transition resets it.
_platform_transition = transition(
    implementation = lambda settings, attr: {
        _COPTS: settings[_COPTS] + attr.copts,
        _INSTRUCTION_SETS: ["all"],
        _OPTIMIZE: attr.optimize,
        _PLATFORMS: [str(attr.platform)],
    },
    inputs = [_COPTS],
    outputs = [_COPTS, _INSTRUCTION_SETS, _OPTIMIZE, _PLATFORMS],
)

def _for_platform_impl(ctx):
    # With a transition, a label attribute is a list.
    target = ctx.attr.target[0][DefaultInfo]
    return [DefaultInfo(
        files = target.files,
        runfiles = ctx.runfiles(transitive_files = target.files).merge(target.default_runfiles),
    )]

for_platform = rule(
    doc = "A target that is built for another platform, for the data of a test.",
    implementation = _for_platform_impl,
    attrs = {
        "copts": attr.string_list(
            doc = "Options of the C++ compiler, for all code of the target and its dependencies. Default: none.",
        ),
        "optimize": attr.string(
            doc = "What compiled programs are optimized for. Default: speed.",
            default = "speed",
        ),
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
