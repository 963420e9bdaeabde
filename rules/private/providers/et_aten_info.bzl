"""Provider of the libraries that call PyTorch's operators."""

visibility(["//rules/..."])

EtAtenInfo = provider(
    doc = "The libraries with which a generated library calls PyTorch's own kernels.",
    fields = {
        "headers": "CcInfo: what generated code includes; no header of PyTorch is among it.",
        "kernels": "CcInfo: kernels of operators that PyTorch does not have.",
        "kernels_yaml": "File: the schemas of these operators.",
        "library": "CcInfo: what the headers declare.",
        "torch": "CcInfo: PyTorch's headers and libraries.",
    },
)
