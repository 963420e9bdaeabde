"""et_operator_library: selects operators from lists, models and other selections."""

load("//rules/private/executorch:et_operator_library.bzl", _et_operator_library = "et_operator_library")

# custom_ops_<name> of a library follows the library's selection, and a model may need custom_ops_<name> to be exported: seen
# from there, a selection of models is one of all operators, and does not need the models.
_WITHOUT_MODELS = Label("//rules/private/executorch:is_without_models")
_IN_PLACE_OF_MODELS = {"include_all_ops": True, "model": None, "models": None}

def et_operator_library(name, **kwargs):
    """A selection of operators: of lists, of models, of YAMLs, of other selections, united.

    Gives `<name>/selected_operators.yaml` in ExecuTorch's format: the same bytes for the same operators, in whatever order
    the operators are given. An `executorch_generated_lib` that depends on the selection registers exactly these operators, and
    fails to build if an operator has no kernel. The library registers the operators of the selections in its `deps`, with those
    of their `deps` at any depth, but not those that another library in its `deps` registers already.

    Any attribute may be a `select()`, over a platform or a flag.

    Output groups: `op_matrix`, which model or list asks for which operator with which dtypes, as `<name>/op_matrix.json` and
    as a table in `<name>/op_matrix.txt`; `selected_prim_ops`, `<name>/selected_prim_ops.h`, which makes a runtime that is
    built from source, with ET_PRIM_OPS_SELECTIVE_BUILD, keep only those of its own operators that are selected.

    Args:
      name: name of the selection.
      **kwargs: ops, ops_dict, model, models, deps, include_all_operators, include_all_ops, ops_schema_yaml_target,
        server_generated_yaml_target, define_static_targets and the common attributes.
    """
    if kwargs.get("model") or kwargs.get("models"):
        for attribute, value in _IN_PLACE_OF_MODELS.items():
            given = kwargs.get(attribute)

            # A select() of the caller's cannot be in another one, and is needed everywhere.
            if type(given) != "select":
                kwargs[attribute] = select({_WITHOUT_MODELS: value, "//conditions:default": given})
    _et_operator_library(name = name, **kwargs)
