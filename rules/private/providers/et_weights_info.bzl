"""Provider of the constants of programs in files of their own."""

load(":et_program_info.bzl", "EtProgramInfo")

visibility(["//rules/..."])

EtWeightsInfo = provider(
    doc = "The constants of programs in files of their own.",
    fields = {
        "files": "list[File]: the constants, in ExecuTorch's .ptd format. Each of the programs needs all files.",
        "programs": "list[File] | None: the programs; None if they are not known.",
    },
)

def weights_of(target):
    """Returns the constants of a target: an `executorch_weights`, an `executorch_program` or .ptd files.

    Args:
      target: Target.
    Returns:
      EtWeightsInfo, or None for an `executorch_program` or a .pte file that has its constants.
    """
    if EtWeightsInfo in target:
        return target[EtWeightsInfo]
    if EtProgramInfo in target:
        info = target[EtProgramInfo]
        return EtWeightsInfo(files = [info.weights], programs = [info.program]) if info.weights else None
    files = target[DefaultInfo].files.to_list()
    return None if [file for file in files if file.extension == "pte"] else EtWeightsInfo(files = files, programs = None)
