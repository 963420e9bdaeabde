"""Old names of attributes, for the errors of rules: a user reads the name that is in the BUILD file."""

visibility(["//rules/..."])

OLD_NAMES_ATTRS = {
    "old_names": attr.string_dict(
        doc = "The old name of each attribute that the BUILD file gives by an old name. The macro gives it.",
    ),
}

def written(ctx, attribute):
    """Returns the name of an attribute in the BUILD file, of a rule with OLD_NAMES_ATTRS."""
    return ctx.attr.old_names.get(attribute, attribute)
