"""Provider of Qualcomm op packages."""

visibility(["//rules/..."])

def _init(*, definitions, interface, op_srcs, registration):
    return {"definitions": definitions, "interface": interface, "op_srcs": op_srcs, "registration": registration}

QnnOpPackageInfo, _new_qnn_op_package_info = provider(
    doc = "What a `qnn_op_package` defines, and the sources of its libraries.",
    fields = {
        "definitions": "File: what the XML says, as JSON.",
        "interface": "File: the source of the interface.",
        "op_srcs": "depset[File]: the sources of the ops.",
        "registration": "File: what ExecuTorch is told of the package, as JSON: its name, operators, and libraries.",
    },
    init = _init,
)
