"""The outputs of a report, and its limits, which a validation action checks."""

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

def declare_report(ctx, args):
    """Declares the files of a report, and adds their flags.

    Args:
      ctx: of the rule.
      args: Args, the arguments of codegen.
    Returns:
      list[File], as text, as JSON and as a web page
    """
    files = [ctx.actions.declare_file(ctx.label.name + suffix) for suffix in [".txt", ".json", ".html"]]
    for flag, file in zip(["text", "json", "html"], files):
        args.add(file, format = "--" + flag + "=%s")
    return files

def report_providers(ctx, report, limits, *, mnemonic, subject):
    """Returns the providers of a report. A validation action checks limits, so that a report above a limit is written, too.

    Args:
      ctx: of the rule.
      report: as from `declare_report`.
      limits: as from `read_limits`.
      mnemonic: str, of the action.
      subject: str, what the action checks: `size` for the command `size_limit` of codegen, with a flag for each attribute.
    Returns:
      list[Provider]
    """
    text, json, html = report
    validation = []
    if limits:
        validation = [ctx.actions.declare_file(ctx.label.name + ".within_limit")]
        args = codegen_args(ctx, subject + "_limit")
        args.add(label_text(ctx.label), format = "--label=%s")
        args.add(json, format = "--report=%s")
        for attribute, number in limits.items():
            args.add(number, format = "--{}=%s".format(attribute))
        args.add_all(validation, format_each = "--output=%s")
        run_codegen(
            ctx,
            args,
            inputs = [json],
            outputs = validation,
            mnemonic = mnemonic,
            progress_message = "Checking the {} of %{{label}}".format(subject),
        )
    return [
        DefaultInfo(files = depset(report)),
        OutputGroupInfo(
            _validation = depset(validation),
            html = depset([html]),
            json = depset([json]),
            text = depset([text]),
        ),
    ]
