"""executorch_binary: a runner for a program."""

load("//rules/private/actions:common_attributes.bzl", "on_request")
load(
    "//rules/private/executorch:executorch_binary.bzl",
    "executorch_numbers",
    "executorch_profile",
    _executorch_binary = "executorch_binary",
)

def executorch_binary(name, profile = False, atol = None, rtol = None, min_snr = None, **kwargs):
    """A runner for a program, as `<name>`, and a profiler of the program, as `<name>.profile`.

    The runner loads and runs the program, and prints shapes, dtypes, values and times. `--help` shows all flags. The build fails
    if two libraries of `deps` register the same kernel, or if `program` needs an operator or a dtype that no library registers.
    The output group `operators` is a report of the operators with their libraries. The report marks operators that run with
    PyTorch's kernels.

    `bazel run :<name>.profile` runs the program in a separate runner with profiling, and writes `<name>.profile.html`: a
    timeline, and the median time and spread of each node, by operator, module and line of Python. `<name>.profile` has the flags
    of the runner, and these: `--page=FILE` names another page, `--trace=FILE` also writes a trace for Perfetto, and
    `--etdump=FILE` shows an ETDump that the program wrote elsewhere. Bazel builds `<name>.profile` only on request.

    `bazel run :<name>.numbers` compares the result of each instruction with eager PyTorch, and writes `<name>.numbers.html`:
    [where the numbers go wrong](numbers.md). Bazel builds `<name>.numbers` only on request.

    Args:
      name: name of the binary.
      profile: whether the binary itself has the flags `--profile`, which prints the time by operator and by node, and
        `--profile=FILE`, which writes an ETDump. Such a binary links ETDump. Default: False.
      atol: absolute tolerance of `--check`, a decimal number. Default: as in `executorch_program_test`.
      rtol: relative tolerance of `--check`, a decimal number. Default: as in `executorch_program_test`.
      min_snr: lowest signal-to-noise ratio of `--check` in decibels, as in `executorch_program_test`. Default: 0.
      **kwargs: program, weights, deps, data, linkopts and the common attributes.
    """
    _executorch_binary(
        name = name,
        atol = atol,
        min_snr = min_snr,
        profile = profile,
        rtol = rtol,
        **kwargs
    )
    executorch_profile(
        name = name + ".profile",
        **on_request(kwargs)
    )
    executorch_numbers(
        name = name + ".numbers",
        **on_request(kwargs)
    )
