"""Rule behind et_operator_library."""

load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:param_file.bzl", "one_line_each")
load("//rules/private/providers:et_operator_info.bzl", "EtOperatorInfo")
load("//rules/private/providers:et_program_info.bzl", "program_of")
load(":old_names.bzl", "OLD_NAMES_ATTRS", "written")

visibility(["//rules/..."])

EMPTY_SELECTION_ERR = """{label}: expected a selection of operators; all attributes are empty, and include_all_operators is False.

Likely cause: the attribute that names the model or the operators was left out.
Fix: give an attribute that selects operators, e.g. models = [":model"] or ops = ["aten::add.out"].
See: docs/errors.md#empty-selection"""

EXCLUSIVE_ERR = """{label}: server_generated_yaml_target excludes {others}; got both.

Likely cause: the file was meant as one selection among several. The rule copies the file without changes.
Fix: remove {others}; or give server_generated_yaml_target to another et_operator_library, and add that library to deps.
See: docs/errors.md#server-generated-beside-others"""

def _check_attributes(ctx):
    given = [
        written(ctx, name)
        for name in ["deps", "include_all_operators", "models", "ops", "ops_dict", "ops_schema_yaml_target"]
        if getattr(ctx.attr, name)
    ]
    if ctx.attr.server_generated_yaml_target and given:
        fail(EXCLUSIVE_ERR.format(label = ctx.label, others = ", ".join(given)))
    if not (ctx.attr.server_generated_yaml_target or given or ctx.attr.without_models):
        fail(EMPTY_SELECTION_ERR.format(label = ctx.label))

def _et_operator_library_impl(ctx):
    _check_attributes(ctx)
    directory = ctx.label.name + "/"
    output = ctx.actions.declare_file(directory + "selected_operators.yaml")
    prim_ops = ctx.actions.declare_file(directory + "selected_prim_ops.h")
    matrix = ctx.actions.declare_file(directory + "op_matrix.json")
    matrix_text = ctx.actions.declare_file(directory + "op_matrix.txt")
    programs = [(model.label, program_of(model).program) for model in ctx.attr.models]
    selections = [dep[EtOperatorInfo] for dep in ctx.attr.deps]
    inputs = [program for _, program in programs]

    args = codegen_args(ctx, "select")
    args.add("--label", label_text(ctx.label))
    args.add("--output", output)
    args.add("--prim_ops_header", prim_ops)
    args.add("--matrix_json", matrix)
    args.add("--matrix_text", matrix_text)
    args.add_all(one_line_each(ctx, "ops"), format_each = "--ops=%s")
    if ctx.attr.ops_dict:
        args.add(json.encode(ctx.attr.ops_dict), format = "--ops_dict=%s")
    if ctx.attr.include_all_operators or ctx.attr.without_models:
        args.add("--include_all_operators")
    for label, program in programs:
        args.add("--model", program)
        args.add("--model_name", label_text(label))
    for flag, target, file in [
        ("--ops_schema_yaml", ctx.attr.ops_schema_yaml_target, ctx.file.ops_schema_yaml_target),
        ("--server_generated_yaml", ctx.attr.server_generated_yaml_target, ctx.file.server_generated_yaml_target),
    ]:
        if file:
            args.add(flag, file)
            args.add(flag + "_name", label_text(target.label))
            inputs.append(file)
    for selection in selections:
        args.add("--selection", selection.selected_operators)
        args.add("--matrix", selection.op_matrix)
        inputs += [selection.selected_operators, selection.op_matrix]

    run_codegen(
        ctx,
        args,
        inputs = inputs,
        outputs = [output, prim_ops, matrix, matrix_text],
        mnemonic = "EtSelect",
        progress_message = "Selecting operators for %{label}",
    )
    return [
        DefaultInfo(files = depset([output])),
        EtOperatorInfo(op_matrix = matrix, selected_operators = output, selected_prim_ops = prim_ops),
        OutputGroupInfo(
            op_matrix = depset([matrix, matrix_text]),
            selected_prim_ops = depset([prim_ops]),
        ),
    ]

et_operator_library = rule(
    doc = "Selects operators from lists, models, YAMLs and other selections.",
    implementation = _et_operator_library_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Other selections to include.",
            providers = [EtOperatorInfo],
        ),
        "include_all_operators": attr.bool(
            doc = "Select all operators of the library's YAMLs. If the library names no YAML and declares no operators, select all operators of the kernel libraries' YAMLs. Default: False.",
        ),
        "models": attr.label_list(
            doc = "Programs whose operators are selected. The macro gives it.",
            allow_files = [".pte", ".bpte"],
        ),
        "ops": attr.string_list(
            doc = "Operators by full name: namespace, name, overload, e.g. `aten::add.out`. Selects all dtypes.",
        ),
        "ops_dict": attr.string_list_dict(
            doc = "Operators by full name, each with a list of dtypes, e.g. `ScalarType.Half`, and kernel keys. A kernel key has the dtype's number and the dim order of each tensor of a call, e.g. `v1/6;0,1|6;0,1|6;0,1|6;0,1`. An empty list selects all dtypes.",
        ),
        "ops_schema_yaml_target": attr.label(
            doc = "A YAML as for `executorch_generated_lib`. Selects all operators that the YAML lists, with all dtypes.",
            allow_single_file = [".yaml", ".yml"],
        ),
        "server_generated_yaml_target": attr.label(
            doc = "A complete selected_operators.yaml, which is checked and used unchanged. No other attribute may be given.",
            allow_single_file = [".yaml", ".yml"],
        ),
        "without_models": attr.bool(
            doc = "Whether the selection has all operators in place of the models' operators. The macro gives it.",
        ),
    } | OLD_NAMES_ATTRS,
    exec_groups = CODEGEN_EXEC_GROUPS,
    provides = [EtOperatorInfo],
)
