"""et_operator_library: selects operators from lists, models and other selections."""

load("//rules/private/executorch:et_operator_library.bzl", _et_operator_library = "et_operator_library")

# custom_ops_<name> depends on the library's selection, the selection on a model, and the model may need custom_ops_<name> for its
# export. To break the cycle, a selection of models includes all operators, and not the models, if custom_ops_<name> needs it.
_WITHOUT_MODELS = Label("//rules/private/executorch:is_without_models")

def et_operator_library(name, models = [], **kwargs):
    """Selects operators from lists, models, YAMLs and other selections.

    Writes `<name>/selected_operators.yaml` in ExecuTorch's format. The same operators give the same bytes, in any order. An
    `executorch_generated_lib` that depends on the selection registers exactly these operators, and fails to build if an operator
    has no kernel. The library registers the operators of all selections in its transitive `deps`, except operators that another
    library in its `deps` registers already.

    Any attribute may be a `select()`, over a platform or a flag.

    Output groups:

    - `op_matrix`: the models and lists that request each operator, with the dtypes, as `<name>/op_matrix.json` and as a table in
      `<name>/op_matrix.txt`.
    - `selected_prim_ops`: `<name>/selected_prim_ops.h`. A runtime that is built from source with ET_PRIM_OPS_SELECTIVE_BUILD
      reads this header, and keeps only the selected ones of its own operators.

    Args:
      name: name of the selection.
      models: programs, each an `executorch_program`, a .pte file, or a bundled program (.bpte). Selects the operators that the
        methods call, with the dtypes and dim orders of the calls, without the operators inside delegates.
      **kwargs: ops, ops_dict, deps, include_all_operators, ops_schema_yaml_target, server_generated_yaml_target and the common
        attributes.
    """
    without_models = False
    if models:
        without_models = select({_WITHOUT_MODELS: True, "//conditions:default": False})

        # A select() of the caller cannot be nested in another select().
        if type(models) != "select":
            models = select({_WITHOUT_MODELS: [], "//conditions:default": models})
    _et_operator_library(
        name = name,
        models = models,
        without_models = without_models,
        **kwargs
    )
