"""The versions of ExecuTorch and PyTorch that these rules know. versions.py reads the literals, too."""

visibility(["//rules/...", "//tests/..."])

# The minor version of //requirements:export.txt.
DEFAULT_EXECUTORCH = "1.5"

# By ExecuTorch's minor version, from the oldest on:
#   pins: the newest releases that are known, as a lock has them; the first is ExecuTorch's
#   torch: PyTorch's minor versions that ExecuTorch was released for or validated with
#   tested: those of `torch` with which tests of these rules run
#   pythons: the oldest and the newest minor version of Python 3 that the wheel is for
#   runtime: the minor version of the C++ runtime that runs the programs
#   lock: the lock below //requirements; empty if none could be made
#   differs: what a user notices, for the page of a workspace
VERSIONS = {
    "1.4": {
        "differs": "its wheel has no C++ runtime: binaries have the runtime of 1.5, which runs programs of 1.4; an import of Qualcomm's backend needs the SDK",
        "lock": "export_1.4.txt",
        "pins": {"executorch": "1.4.1", "torch": "2.13.0", "torchao": "0.18.0"},
        "pythons": [10, 14],
        "runtime": "1.5",
        "tested": ["2.13"],
        "torch": ["2.13"],
    },
    "1.5": {
        "differs": "the default",
        "lock": "export.txt",
        "pins": {"executorch": "1.5.1", "torch": "2.13.0", "torchao": "0.18.0"},
        "pythons": [10, 14],
        "runtime": "1.5",
        "tested": ["2.13"],
        "torch": ["2.13", "2.14"],
    },
    "1.6": {
        "differs": "no lock: no test ran with it",
        "lock": "",
        "pins": {"executorch": "1.6.0", "torch": "2.15.0"},
        "pythons": [11, 15],
        "runtime": "1.6",
        "tested": [],
        "torch": ["2.15"],
    },
}
