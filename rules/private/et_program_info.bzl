"""Provider of an exported program."""

visibility(["//rules/..."])

def _init(*, program, samples = None):
    if type(program) != "File":
        fail("EtProgramInfo.program: expected a File, got a {}".format(type(program)))
    return {"program": program, "samples": samples}

EtProgramInfo, _new_et_program_info = provider(
    doc = "A program that the runtime can load.",
    fields = {
        "program": "File: the .pte.",
        "samples": "File | None: sample inputs with PyTorch's outputs, in ExecuTorch's .ptd format.",
    },
    init = _init,
)
