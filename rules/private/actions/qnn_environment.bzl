"""The environment of actions that import ExecuTorch's Qualcomm backend."""

visibility(["//rules/..."])

# Where QNN_SDK_ROOT is not set, the backend downloads an SDK. Set and empty, it leaves the SDK to the caller.
NO_QNN_SDK = {
    "HEXAGON_SDK_ROOT": "",
    "QNN_SDK_ROOT": "",
}
