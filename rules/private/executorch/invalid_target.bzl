"""Rule invalid_target."""

visibility(["//rules/..."])

def _invalid_target_impl(ctx):
    fail(ctx.attr.error.replace("{label}", str(ctx.label)))

invalid_target = rule(
    doc = "A target that a macro defines in place of a target with contradictory parameters. The package stays usable.",
    implementation = _invalid_target_impl,
    attrs = {
        "error": attr.string(
            doc = "The error. `{label}` becomes the label of the target.",
            mandatory = True,
        ),
    },
)
