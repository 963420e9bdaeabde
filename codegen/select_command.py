"""Unites lists of operators, the operators that models call, and other selections into one selected_operators.yaml.

    codegen select --output selected_operators.yaml --ops aten::add.out --model model.pte --model_name //models:model

The same operators give the same bytes, in whatever order and from whatever sources they come.
"""

from __future__ import annotations

from absl import flags

from codegen import command_line, schema, selection
from codegen.errors import CodegenError, Finding

FLAGS = command_line.flag_values()

_OUTPUT = flags.DEFINE_string("output", None, "Where to write the selection.", required=True, flag_values=FLAGS)
_LABEL = flags.DEFINE_string("label", "--ops", "Who asks for the operators of --ops, for errors.", flag_values=FLAGS)
_OPS = flags.DEFINE_multi_string("ops", [], "An operator's full name, such as aten::add.out.", flag_values=FLAGS)
_MODELS = flags.DEFINE_multi_string("model", [], "An ExecuTorch program (.pte) to select for.", flag_values=FLAGS)
_MODEL_NAMES = flags.DEFINE_multi_string(
    "model_name",
    [],
    "What to call a model in errors, such as its label; one for each --model, in order.",
    flag_values=FLAGS,
)
_SELECTIONS = flags.DEFINE_multi_string("selection", [], "Another selected_operators.yaml to unite.", flag_values=FLAGS)
_INCLUDE_ALL = flags.DEFINE_bool(
    "include_all_operators", False, "Selects every operator that the library's YAML files provide.", flag_values=FLAGS
)


def run() -> None:
    if len(_MODELS.value) != len(_MODEL_NAMES.value):
        raise CodegenError(
            Finding(
                id="wrong-flags",
                where="--model_name",
                found=f"{len(_MODELS.value)} models, but {len(_MODEL_NAMES.value)} names",
                cause="a --model is given without a --model_name",
                fix="give as many --model_name as --model, in the same order",
            )
        )
    findings = [finding for name in _OPS.value if (finding := _check_name(name))]
    selections = [selection.of(_OPS.value, _LABEL.value), selection.Selection({}, include_all=_INCLUDE_ALL.value)]
    for path in _SELECTIONS.value:
        try:
            selections.append(selection.read(path))
        except CodegenError as error:
            findings += error.findings
    if _MODELS.value:
        from codegen import program_reader  # Selecting from lists alone need not wait for flatbuffers.

        for path, name in zip(_MODELS.value, _MODEL_NAMES.value, strict=True):
            try:
                selections.append(selection.of(program_reader.operators(path, name), name))
            except CodegenError as error:
                findings += error.findings
    if findings:
        raise CodegenError(findings)
    selection.write(selection.unite(selections), _OUTPUT.value)


def _check_name(name: str) -> Finding | None:
    """What is wrong with an operator's name by itself; whether there is such an operator is for `generate` to say."""
    parsed = schema.parse_operator_name(name)
    if parsed and str(parsed) == name:
        return None
    return Finding(
        id="bad-operator-name",
        where=_LABEL.value,
        found=f"'{name}' is not an operator's full name" + (f"; did you mean {parsed}?" if parsed else ""),
        cause="the namespace was forgotten" if parsed else "a typo, or several names in one",
        fix="write it as namespace::name.overload, such as aten::add.out",
    )
