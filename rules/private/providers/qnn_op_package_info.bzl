"""Provider of Qualcomm op packages."""

visibility(["//rules/..."])

def _init(*, definitions, interface, op_srcs, registration):
    return {"definitions": definitions, "interface": interface, "op_srcs": op_srcs, "registration": registration}

QnnOpPackageInfo, _new_qnn_op_package_info = provider(
    doc = "The definitions of a `qnn_op_package`, and the sources of its libraries.",
    fields = {
        "definitions": "File: the content of the XML, as JSON.",
        "interface": "File: the source of the interface.",
        "op_srcs": "depset[File]: the sources of the ops.",
        "registration": "File: the registration of the package with ExecuTorch, as JSON: name, operators and libraries.",
    },
    init = _init,
)
