"""qnn_op_package: operators for Qualcomm's AI Engine Direct backend."""

load("@rules_python//python:defs.bzl", "py_library")
load("//rules/private/qnn:qnn_op_package.bzl", "qnn_op_package_skeleton", _qnn_op_package = "qnn_op_package")
load("//rules/private/qnn:qnn_op_package_library.bzl", "check_processors", "qnn_op_package_bundle", "qnn_op_package_library")
load("//rules/private/torch:loader_module.bzl", "loader_module")

def qnn_op_package(
        name,
        config,
        torch_ops,
        op_srcs = {},
        asm_srcs = {},
        backend = "HTP",
        hexagon_archs = ["v75"],
        copts = [],
        visibility = None,
        testonly = None,
        tags = [],
        **kwargs):
    """An op package for Qualcomm's AI Engine Direct backend, with ops that compute operators of PyTorch.

    Targets:

    - `<name>`: reads the XML, and compares the ops with the operators. The outputs are JSON of the definitions and of the
      registration, and the source of the interface.
    - `<name>.skeleton`, to run: writes the interface and the ops into the source tree, for you to complete the ops. Existing files
      stay, and differences are shown. `-- --overwrite` replaces existing files.
    - `<name>_py`: a py_library with the module `<package>.<name>`. Its `op_package_options()` returns ExecuTorch's
      `QnnExecuTorchOpPackageOptions`. The CPU backend has no such library, since ExecuTorch does not lower to this backend.
    - `<name>.x86_64`, `<name>.aarch64_android`, `<name>.hexagon_<arch>`: the libraries. They need the SDKs at QNN_SDK_ROOT,
      HEXAGON_SDK_ROOT and ANDROID_NDK_ROOT. Without the SDKs, the targets are incompatible, and Bazel skips them. If one of the
      variables is set, the build prints the skipped processors and the missing parts.
    - `<name>.device_<arch>`: a folder with the files for a device, and the commands that push the files and run a program.

    Args:
      name: name of the target.
      config: the XML files of the package. Several files define one package together.
      torch_ops: for each op, the operator of PyTorch that the op computes, as namespace::name or namespace::name.overload.
      op_srcs: for each op, its source, e.g. {"ExampleCustomOp": "ExampleCustomOp.cpp"}.
      asm_srcs: for each processor, named like the library, the sources in assembly that ops call, e.g.
        {"hexagon_v75": ["v75_asm/example.S"]}.
      backend: the backend of the sources: HTP, or CPU. A package for CPU is for other programs of the SDK, such as
        qnn-net-run, and has libraries for x86_64 and aarch64_android only.
      hexagon_archs: versions of the DSP: v68, v69, v73, v75, v79, v81.
      copts: options for the compilers of the libraries.
      visibility: common attribute.
      testonly: common attribute.
      tags: common attribute.
      **kwargs: deps, device_dir, interface and the common attributes.
    """
    common = dict(visibility = visibility, testonly = testonly, tags = tags)
    for_htp = backend != "CPU"
    _qnn_op_package(
        name = name,
        backend = backend,
        config = config,
        module = loader_module(name) if for_htp else None,
        op_srcs = {
            source: ",".join([op for op, other in op_srcs.items() if other == source])
            for source in op_srcs.values()
        },
        torch_ops = torch_ops,
        **(kwargs | common)
    )
    qnn_op_package_skeleton(
        name = name + ".skeleton",
        backend = backend,
        config = config,
        op_srcs = {op: source.removeprefix(":") for op, source in op_srcs.items()},
        **common
    )
    if for_htp:
        py_library(
            name = name + "_py",
            srcs = [loader_module(name)],
            deps = [Label("@executorch_python//:executorch")],
            **common
        )
    archs = hexagon_archs if for_htp else []
    processors = ["x86_64", "aarch64_android"] + ["hexagon_" + arch for arch in archs]
    check_processors("//{}:{}".format(native.package_name(), name), asm_srcs, processors)
    for platform in processors:
        found = Label("@executorch_qnn//:{}{}".format("" if for_htp else "cpu_", platform))
        qnn_op_package_library(
            name = name + "." + platform,
            asm_srcs = asm_srcs.get(platform, []),
            copts = copts,
            package = name,
            platform = found,
            target_compatible_with = [found.same_package_label(found.name + "_found")],
            **common
        )
    for arch in archs:
        qnn_op_package_bundle(
            name = "{}.device_{}".format(name, arch),
            hexagon_arch = arch,
            libraries = [name + ".aarch64_android", name + ".hexagon_" + arch],
            package = name,
            target_compatible_with = [
                Label("@executorch_qnn//:aarch64_android_found"),
                Label("@executorch_qnn//:hexagon_{}_found".format(arch)),
            ],
            **common
        )
