"""Provider of an operator selection."""

visibility(["//rules/..."])

def _init(*, selected_operators, op_matrix, selected_prim_ops):
    fields = {"op_matrix": op_matrix, "selected_operators": selected_operators, "selected_prim_ops": selected_prim_ops}
    for name, value in fields.items():
        if type(value) != "File":
            fail("EtOperatorInfo.{}: expected a File, got a {}".format(name, type(value)))
    return fields

EtOperatorInfo, _new_et_operator_info = provider(
    doc = "The operators that an `et_operator_library` and its `deps` select.",
    fields = {
        "op_matrix": "File: op_matrix.json, the models and lists that request each operator, with the dtypes.",
        "selected_operators": "File: selected_operators.yaml, in ExecuTorch's own format.",
        "selected_prim_ops": "File: selected_prim_ops.h, the selected operators of the runtime itself, for a runtime built from source.",
    },
    init = _init,
)
