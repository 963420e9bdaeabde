"""Provider of an operator selection."""

visibility(["//rules/..."])

def _init(*, selected_operators):
    if type(selected_operators) != "File":
        fail("EtOperatorInfo.selected_operators: expected a File, got a {}".format(type(selected_operators)))
    return {"selected_operators": selected_operators}

EtOperatorInfo, _new_et_operator_info = provider(
    doc = "The operators that an `et_operator_library` selects, those of its `deps` included.",
    fields = {
        "selected_operators": "File: selected_operators.yaml, in ExecuTorch's own format.",
    },
    init = _init,
)
