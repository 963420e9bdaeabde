"""Provider of the libraries of Qualcomm op packages."""

visibility(["//rules/..."])

def _init(*, folder):
    return {"folder": folder}

QnnOpPackageLibraryInfo, _new_qnn_op_package_library_info = provider(
    doc = "The library of a `qnn_op_package` for one kind of processor.",
    fields = {"folder": "File: the folder with the library. The library's file has the registered name of the package."},
    init = _init,
)
