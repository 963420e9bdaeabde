"""Provider of prebuilt kernels."""

visibility(["//rules/..."])

def _init(*, label, operators):
    return {"listing": struct(label = label, operators = operators)}

EtPrebuiltKernelsInfo, _new_et_prebuilt_kernels_info = provider(
    doc = "What a prebuilt library registers with the runtime.",
    fields = {
        "listing": "struct(label: str, operators: File): the library's label, and a file with the operators, one on a line.",
    },
    init = _init,
)
