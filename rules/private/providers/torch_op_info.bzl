"""Provider of operator libraries for PyTorch."""

visibility(["//rules/..."])

def _init(*, libraries, manifests, operators):
    fields = {"libraries": libraries, "manifests": manifests, "operators": operators}
    for name, value in fields.items():
        if type(value) != "depset":
            fail("TorchOpInfo.{}: expected a depset, got a {}".format(name, type(value)))
    return fields

TorchOpInfo, _new_torch_op_info = provider(
    doc = "What a `torch_op_library`, and those among its `deps`, register with PyTorch.",
    fields = {
        "libraries": "depset[File]: the shared libraries, for `torch.ops.load_library`; what a library needs comes before it.",
        "manifests": "depset[File]: one JSON file a library: its namespaces, and the place of every use of a TORCH_LIBRARY macro.",
        "operators": "depset[File]: one JSON file a library: the operators that it defines, with schemas, and its kernels.",
    },
    init = _init,
)
