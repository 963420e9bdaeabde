"""Provider of a package of AOTInductor."""

visibility(["//rules/..."])

def _init(*, operators, package, samples):
    fields = {"operators": operators, "package": package, "samples": samples}
    for name, value in fields.items():
        if type(value) != "File":
            fail("TorchAotiPackageInfo.{}: expected a File, got a {}".format(name, type(value)))
    return fields

TorchAotiPackageInfo, _new_torch_aoti_package_info = provider(
    doc = "A model that AOTInductor compiled, which C++ runs without Python.",
    fields = {
        "operators": "File: the names of the called operators that other libraries than PyTorch define, one a line.",
        "package": "File: the .pt2.",
        "samples": "File: sample inputs with PyTorch's outputs, in ExecuTorch's .ptd format.",
    },
    init = _init,
)
