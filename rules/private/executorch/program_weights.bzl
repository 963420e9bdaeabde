"""The attribute `weights` of rules that run or describe a program."""

load("//rules/private/providers:et_weights_info.bzl", "weights_of")

visibility(["//rules/..."])

OTHER_WEIGHTS_ERR = """{label}: attribute weights: expected the weights of {program}; {weights} has those of other programs.

Likely cause: program is none of the programs of {weights}.
Fix: add program to programs of {weights}, or remove weights, so that the program has its own file.
See: docs/errors.md#other-weights"""

WEIGHTS_ATTRS = {
    "weights": attr.label(
        doc = "The constants that the program does not have: an `executorch_weights` with `program` among its programs, or .ptd files, " +
              "such as files in the source tree. Default: the file of the program, if it was exported with `weights = \"external\"`.",
        allow_files = [".ptd"],
    ),
}

def weights_files(ctx, info):
    """Returns the files with the constants that a program does not have.

    Args:
      ctx: of a rule with the attributes program and WEIGHTS_ATTRS.
      info: EtProgramInfo of the program, or None.
    Returns:
      list[File]
    """
    if not ctx.attr.weights:
        return [info.weights] if info and info.weights else []
    weights = weights_of(ctx.attr.weights)
    if not info or (weights.programs != None and info.program not in weights.programs):
        fail(OTHER_WEIGHTS_ERR.format(
            label = ctx.label,
            program = ctx.attr.program.label if info else "no program",
            weights = ctx.attr.weights.label,
        ))
    return weights.files
