"""The environment of actions that may import ExecuTorch's Qualcomm backend."""

visibility(["//rules/..."])

# Where QNN_SDK_ROOT is not set, the backend downloads an SDK. Set and empty, it leaves the SDK to the caller.
NO_QNN_SDK = {
    "HEXAGON_SDK_ROOT": "",
    "QNN_SDK_ROOT": "",
}

def qnn_environment(root, libraries):
    """The environment of an action that may lower to Qualcomm's backend.

    Args:
      root: str, the folder of the machine's SDK; empty if there is none.
      libraries: list[str], the folders of op packages' libraries.
    Returns:
      dict[str, str]
    """
    folders = ([root + "/lib/x86_64-linux-clang"] if root else []) + libraries
    found = {"LD_LIBRARY_PATH": ":".join(folders)} if folders else {}
    return NO_QNN_SDK | {"QNN_SDK_ROOT": root} | found
