"""Flags that several subcommands have. Each subcommand has its own set of flags."""

from __future__ import annotations

from absl import flags

from codegen.commands import define


def flag_values() -> flags.FlagValues:
    """Returns an empty set of flags."""
    return flags.FlagValues()  # type: ignore[no-untyped-call]


def label(values: flags.FlagValues, what: str) -> flags.FlagHolder[str]:
    """Defines --label, required: the label of `what`."""
    return define.required(values, "label", f"The label of {what}.")


def nm(values: flags.FlagValues) -> flags.FlagHolder[str]:
    """Defines --nm, required."""
    return define.required(values, "nm", "The C++ toolchain's nm.")


def output(values: flags.FlagValues, what: str) -> flags.FlagHolder[str]:
    """Defines --output, required: the path of `what`."""
    return define.required(values, "output", f"Where to write {what}.")


def selections(values: flags.FlagValues) -> flags.FlagHolder[list[str]]:
    """Defines --selection, which may be given several times."""
    return define.several(values, "selection", "A selected_operators.yaml; several are united.")


def registered(values: flags.FlagValues) -> flags.FlagHolder[str]:
    """Defines --manifest, required: the registered.json of a generated library."""
    return define.required(values, "manifest", "The registered.json of 'codegen generate'.")


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
