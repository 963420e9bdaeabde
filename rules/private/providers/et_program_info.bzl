"""Provider of an exported program."""

visibility(["//rules/..."])

def _init(*, program, weights = None, samples = None, origins = None, delegation = None, eager_values = None, eager_nodes = None, eager_origins = None):
    if type(program) != "File":
        fail("EtProgramInfo.program: expected a File, got a {}".format(type(program)))
    return {
        "delegation": delegation,
        "eager_nodes": eager_nodes,
        "eager_origins": eager_origins,
        "eager_values": eager_values,
        "origins": origins,
        "program": program,
        "samples": samples,
        "weights": weights,
    }

EtProgramInfo, _new_et_program_info = provider(
    doc = "A program that the runtime can load.",
    fields = {
        "delegation": "File | None: the delegation report as JSON. A binary has to link the backends in `backends` of the report.",
        "eager_nodes": "File | None: JSON with the nodes of `eager_values`, and the graph pass that changed each instruction.",
        "eager_origins": "File | None: as `origins`, with the lines of Python of these nodes.",
        "eager_values": "File | None: PyTorch's values of the nodes behind the instructions, in ExecuTorch's .ptd format.",
        "origins": "File | None: JSON with the line of Python behind each instruction.",
        "program": "File: the .pte.",
        "samples": "File | None: sample inputs with PyTorch's outputs, in ExecuTorch's .ptd format.",
        "weights": "File | None: the constants of the program, in ExecuTorch's .ptd format; None if the program has its constants.",
    },
    init = _init,
)

def program_of(target):
    """Returns the program of a target, an `executorch_program` or a .pte file.

    Args:
      target: Target.
    Returns:
      EtProgramInfo
    """
    if EtProgramInfo in target:
        return target[EtProgramInfo]
    return EtProgramInfo(program = target[DefaultInfo].files.to_list()[0])
