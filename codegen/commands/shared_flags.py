"""Flags that several subcommands have. Each subcommand has its own set of flags."""

from __future__ import annotations

from absl import flags


def flag_values() -> flags.FlagValues:
    """Returns an empty set of flags."""
    return flags.FlagValues()  # type: ignore[no-untyped-call]


def label(values: flags.FlagValues, what: str) -> flags.FlagHolder[str]:
    """Defines --label, required: the label of `what`."""
    return flags.DEFINE_string("label", None, f"The label of {what}.", required=True, flag_values=values)


def nm(values: flags.FlagValues) -> flags.FlagHolder[str]:
    """Defines --nm, required."""
    return flags.DEFINE_string("nm", None, "The C++ toolchain's nm.", required=True, flag_values=values)


def output(values: flags.FlagValues, what: str) -> flags.FlagHolder[str]:
    """Defines --output, required: the path of `what`."""
    return flags.DEFINE_string("output", None, f"Where to write {what}.", required=True, flag_values=values)


def selections(values: flags.FlagValues) -> flags.FlagHolder[list[str]]:
    """Defines --selection, which may be given several times."""
    return flags.DEFINE_multi_string(
        "selection", [], "A selected_operators.yaml; several are united.", flag_values=values
    )


def registered(values: flags.FlagValues) -> flags.FlagHolder[str]:
    """Defines --manifest, required: the registered.json of a generated library."""
    return flags.DEFINE_string(
        "manifest", None, "The registered.json of 'codegen generate'.", required=True, flag_values=values
    )


def max_kernels(values: flags.FlagValues) -> flags.FlagHolder[int]:
    """Defines --max_kernels, required: the capacity of the runtime's registry, from the runtime toolchain."""
    return flags.DEFINE_integer(
        "max_kernels",
        None,
        "How many kernels the runtime's registry holds.",
        lower_bound=1,
        required=True,
        flag_values=values,
    )
