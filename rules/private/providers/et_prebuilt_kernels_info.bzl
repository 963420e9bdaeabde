"""Provider of prebuilt kernels."""

visibility(["//rules/..."])

def _init(*, label, operators, linker_inputs):
    return {"linker_inputs": linker_inputs, "listing": struct(label = label, operators = operators)}

EtPrebuiltKernelsInfo, _new_et_prebuilt_kernels_info = provider(
    doc = "The registrations of a prebuilt library with the runtime.",
    fields = {
        "linker_inputs": "depset[LinkerInput]: the library with all that it links; the listing is of all of this.",
        "listing": "struct(label: str, operators: File): the library's label, and a file with the operators, one on a line.",
    },
    init = _init,
)
