"""The flags that several subcommands have, each declared once. Every subcommand has a set of flags of its own."""

from __future__ import annotations

from absl import flags


def flag_values() -> flags.FlagValues:
    """An empty set of flags."""
    return flags.FlagValues()  # type: ignore[no-untyped-call]


def label(values: flags.FlagValues, what: str) -> flags.FlagHolder[str]:
    """--label, required: of `what`."""
    return flags.DEFINE_string("label", None, f"The label of {what}.", required=True, flag_values=values)


def nm(values: flags.FlagValues) -> flags.FlagHolder[str]:
    """--nm, required."""
    return flags.DEFINE_string("nm", None, "The C++ toolchain's nm.", required=True, flag_values=values)


def output(values: flags.FlagValues, what: str) -> flags.FlagHolder[str]:
    """--output, required: where to write `what`."""
    return flags.DEFINE_string("output", None, f"Where to write {what}.", required=True, flag_values=values)


def selections(values: flags.FlagValues) -> flags.FlagHolder[list[str]]:
    """--selection, which may be given several times."""
    return flags.DEFINE_multi_string(
        "selection", [], "A selected_operators.yaml; several are united.", flag_values=values
    )


def registered(values: flags.FlagValues) -> flags.FlagHolder[str]:
    """--manifest, required: what a generated library registers."""
    return flags.DEFINE_string(
        "manifest", None, "The registered.json of 'codegen generate'.", required=True, flag_values=values
    )


def max_kernels(values: flags.FlagValues) -> flags.FlagHolder[int]:
    """--max_kernels, required: a fact of the runtime, which the runtime's toolchain knows."""
    return flags.DEFINE_integer(
        "max_kernels",
        None,
        "How many kernels the runtime's registry holds.",
        lower_bound=1,
        required=True,
        flag_values=values,
    )
