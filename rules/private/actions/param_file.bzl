"""Command lines in files, which workers need."""

visibility(["//rules/..."])

LINE_BREAK_ERR = """{label}: attribute {attribute}: expected texts without line breaks; got {value}.

Likely cause: one text has several values, or the line ends of a file.
Fix: give each value as a text of its own, without line breaks.
See: docs/errors.md#line-break"""

EMPTY_NAME_ERR = """{label}: attribute {attribute}: expected names; got an empty text.

Likely cause: a variable or a select() gave no name.
Fix: leave the empty text out. An empty list selects nothing.
See: docs/errors.md#empty-name"""

def no_empty_names(ctx, attribute):
    """Fails for an empty text in an attribute with names.

    Args:
      ctx: the rule's context.
      attribute: str, the name of an attribute with a list of texts.
    """
    if "" in getattr(ctx.attr, attribute):
        fail(EMPTY_NAME_ERR.format(label = ctx.label, attribute = attribute))

def one_line_each(ctx, attribute):
    """The value of an attribute whose texts become lines of a file; fails where one would become several.

    Args:
      ctx: the rule's context.
      attribute: str, the name of an attribute with a text, with texts, or with lists of texts by texts.
    Returns:
      the value
    """
    value = getattr(ctx.attr, attribute)
    texts = [value] if type(value) == "string" else list(value)
    if type(value) == "dict":
        for several in value.values():
            texts += several
    for text in texts:
        if "\n" in text or "\r" in text:
            fail(LINE_BREAK_ERR.format(label = ctx.label, attribute = attribute, value = json.encode(text)))
    return value

def param_file_args(ctx):
    """The beginning of a command line that an action passes in a file, as a worker needs.

    Add files as File, never as text, so that Bazel can map their paths. What a user wrote goes in one line with its
    flag (`format_each = "--ops=%s"`): a line of its own that begins with "@" would name a file. Labels and files have no
    line breaks, JSON escapes them, and `one_line_each` refuses them in all else.

    Args:
      ctx: the rule's context.
    Returns:
      Args
    """
    args = ctx.actions.args()
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    return args
