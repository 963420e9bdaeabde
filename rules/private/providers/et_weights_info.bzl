"""Provider of the constants of several programs."""

visibility(["//rules/..."])

EtWeightsInfo = provider(
    doc = "The constants of several programs in one file.",
    fields = {
        "programs": "list[File]: the programs.",
        "weights": "File: the constants, in ExecuTorch's .ptd format.",
    },
)
