"""The limits of a report, which a validation action checks."""

load("//rules/private/actions:codegen.bzl", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")

visibility(["//rules/..."])

BAD_LIMIT_ERR = """{label}: attribute {attribute}: expected a number above 0; got {number}.

Likely cause: the number stands for no limit.
Fix: give a number of bytes above 0, or, for no limit, remove {attribute}.
See: docs/errors.md#bad-max-bytes"""

def read_limits(ctx, attributes):
    """The limits that a target gives.

    Args:
      ctx: of the rule.
      attributes: list[str], the attributes of limits, in bytes. 0 is for no limit.
    Returns:
      dict[str, int], the limits by their attributes. Fails if a limit is below 0.
    """
    limits = {attribute: getattr(ctx.attr, attribute) for attribute in attributes if getattr(ctx.attr, attribute)}
    for attribute, number in limits.items():
        if number < 0:
            fail(BAD_LIMIT_ERR.format(label = ctx.label, attribute = attribute, number = number))
    return limits

def check_limits(ctx, report, limits, *, command, mnemonic, subject):
    """Checks limits in a validation action, so that the report is written even if a limit is exceeded.

    Args:
      ctx: of the rule.
      report: File, the JSON of the report.
      limits: as from `read_limits`.
      command: str, the command of codegen, with a flag for each attribute.
      mnemonic: str, of the action.
      subject: str, what the action checks, for its message: `size`.
    Returns:
      list[File], the outputs of the action. Empty without limits.
    """
    if not limits:
        return []
    output = ctx.actions.declare_file(ctx.label.name + ".within_limit")
    args = codegen_args(ctx, command)
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(report, format = "--report=%s")
    for attribute, number in limits.items():
        args.add(number, format = "--{}=%s".format(attribute))
    args.add(output, format = "--output=%s")
    run_codegen(
        ctx,
        args,
        inputs = [report],
        outputs = [output],
        mnemonic = mnemonic,
        progress_message = "Checking the {} of %{{label}}".format(subject),
    )
    return [output]
