"""Provider of an exported program."""

visibility(["//rules/..."])

def _init(*, program, samples = None, origins = None, delegation = None):
    if type(program) != "File":
        fail("EtProgramInfo.program: expected a File, got a {}".format(type(program)))
    return {"delegation": delegation, "origins": origins, "program": program, "samples": samples}

EtProgramInfo, _new_et_program_info = provider(
    doc = "A program that the runtime can load.",
    fields = {
        "delegation": "File | None: JSON of what went to which backend; its `backends` are those that a binary has to link.",
        "origins": "File | None: JSON that says where each instruction comes from.",
        "program": "File: the .pte.",
        "samples": "File | None: sample inputs with PyTorch's outputs, in ExecuTorch's .ptd format.",
    },
    init = _init,
)

def program_of(target):
    """The program of a target: an `executorch_program`, or a .pte file.

    Args:
      target: Target.
    Returns:
      EtProgramInfo
    """
    if EtProgramInfo in target:
        return target[EtProgramInfo]
    return EtProgramInfo(program = target[DefaultInfo].files.to_list()[0])
