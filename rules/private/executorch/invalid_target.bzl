"""Rule invalid_target."""

visibility(["//rules/..."])

BUCK_ONLY_ERR = """{{label}}: got the attribute {parameter}, which only Buck has.

Likely cause: the target comes from a BUCK file of ExecuTorch.
Fix: use {replacement} instead.
See: docs/errors.md#buck-only"""

TWO_NAMES_ERR = """{{label}}: {old} is another name for {new}; got both.

Likely cause: {new} was added to a target with the parameter {old} of ExecuTorch's BUCK files, or of an earlier version.
Fix: remove {old}, and move its value to {new}.
See: docs/errors.md#two-names"""

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
