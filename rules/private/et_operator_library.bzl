"""Rule et_operator_library."""

load(":codegen_action.bzl", "codegen_args", "run_codegen")
load(":et_operator_info.bzl", "EtOperatorInfo")
load(":et_program_info.bzl", "program_of")
load(":label_text.bzl", "label_text")
load(":toolchains.bzl", "CODEGEN_TOOLCHAIN_TYPE")

visibility(["//rules/..."])

EMPTY_SELECTION_ERR = """{label} selects no operator: ops, model, models, deps are empty and include_all_operators is False.

Likely cause: the attribute that names the model or the operators was left out.
Fix: give one of them, e.g. model = ":model" or ops = ["aten::add.out"].
See: docs/errors.md#empty-selection"""

def _et_operator_library_impl(ctx):
    models = ctx.attr.models + ([ctx.attr.model] if ctx.attr.model else [])
    if not (models or ctx.attr.ops or ctx.attr.deps or ctx.attr.include_all_operators):
        fail(EMPTY_SELECTION_ERR.format(label = ctx.label))
    output = ctx.actions.declare_file(ctx.label.name + "/selected_operators.yaml")
    programs = [(model.label, program_of(model).program) for model in models]
    selections = [dep[EtOperatorInfo].selected_operators for dep in ctx.attr.deps]

    args = codegen_args(ctx, "select")
    args.add("--label", label_text(ctx.label))
    args.add("--output", output)
    args.add_all(ctx.attr.ops, format_each = "--ops=%s")
    if ctx.attr.include_all_operators:
        args.add("--include_all_operators")
    for label, program in programs:
        args.add("--model", program)
        args.add("--model_name", label_text(label))
    args.add_all(selections, before_each = "--selection")

    run_codegen(
        ctx,
        args,
        inputs = [program for _, program in programs] + selections,
        outputs = [output],
        mnemonic = "EtSelect",
        progress_message = "Selecting operators for %{label}",
    )
    return [
        DefaultInfo(files = depset([output])),
        EtOperatorInfo(selected_operators = output),
    ]

_MODEL_DOC = "an `executorch_program` or a .pte file; all operators of all its methods are selected, those inside delegates excepted"

et_operator_library = rule(
    doc = """A selection of operators: of lists, of models, of other selections, united.

Gives `<name>/selected_operators.yaml` in ExecuTorch's format. An `executorch_generated_lib` that depends on it registers
exactly these operators, and fails to build if one of them has no kernel.""",
    implementation = _et_operator_library_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Other selections, to be included.",
            providers = [EtOperatorInfo],
        ),
        "include_all_operators": attr.bool(
            doc = "Select whatever the library's YAMLs provide. Default: False.",
        ),
        "model": attr.label(
            doc = "One model: {}.".format(_MODEL_DOC),
            allow_single_file = [".pte"],
        ),
        "models": attr.label_list(
            doc = "Several models, each {}.".format(_MODEL_DOC),
            allow_files = [".pte"],
        ),
        "ops": attr.string_list(
            doc = "Operators by full name: namespace, name, overload, e.g. `aten::add.out`.",
        ),
    },
    provides = [EtOperatorInfo],
    toolchains = [CODEGEN_TOOLCHAIN_TYPE],
)
