"""Provider of operator libraries for PyTorch."""

visibility(["//rules/..."])

def _init(*, libraries, manifests, operators, oldest_torch = None):
    fields = {"libraries": libraries, "manifests": manifests, "operators": operators}
    for name, value in fields.items():
        if type(value) != "depset":
            fail("TorchOpInfo.{}: expected a depset, got a {}".format(name, type(value)))
    return fields | {"oldest_torch": oldest_torch}

TorchOpInfo, _new_torch_op_info = provider(
    doc = "The registrations of a `torch_op_library`, and of the operator libraries in its `deps`, with PyTorch.",
    fields = {
        "libraries": "depset[File]: the shared libraries, for `torch.ops.load_library`. Each library comes after its dependencies.",
        "manifests": "depset[File]: a JSON file for each library: namespaces, and the places of all uses of TORCH_LIBRARY macros.",
        "oldest_torch": "str | None: the oldest version of PyTorch that loads the library, as major.minor, if it has the stable ABI; " +
                        "None if only the version of the build loads the library.",
        "operators": "depset[File]: a JSON file for each library: the defined operators with schemas, and the kernels.",
    },
    init = _init,
)
