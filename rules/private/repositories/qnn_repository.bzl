"""Qualcomm's SDKs on the machine, if it has them. Nothing is downloaded."""

visibility(["//rules/..."])

_ENVIRON = ["QNN_SDK_ROOT", "HEXAGON_SDK_ROOT", "ANDROID_NDK_ROOT", "X86_CXX"]

# Versions of the DSP, each with the release of the Hexagon SDK and the compiler in it that ExecuTorch's Makefiles take.
_HEXAGON_SDKS = {
    "v68": ("4.2.0", "8.4.09"),
    "v69": ("4.3.0", "8.5.03"),
    "v73": ("5.4.0", "8.6.02"),
    "v75": ("5.4.0", "8.7.03"),
    "v79": ("6.0.0", "8.8.02"),
    "v81": ("6.2.0", "19.0.01"),
}

# What prepares graphs for the DSP, on x86_64 and aarch64, takes libnative of this one's SDK.
_HOST = "v79"

_VISIBLE = "__attribute__((visibility(\"default\")))"

_HEADER = """\
load("@rules_executorch//rules/private/toolchains:qnn_platform.bzl", "qnn_platform", "qnn_sdk")

package(default_visibility = ["//visibility:public"])

qnn_sdk(
    name = "sdk",
    root = {root},
)
"""

_PLATFORM = """
# What needs the SDKs for {name} is compatible with this.
alias(
    name = "{name}_found",
    actual = "{compatible}",
)

qnn_platform(
    name = "{name}",
    compile_flags = {compile_flags},
    compiler = {compiler},
    link_flags = {link_flags},
    role = "{role}",
    sdk_build_id = {sdk_build_id},
)
"""

def _machine(rctx):
    """What a repository_ctx says of the machine: all that `platforms` asks.

    Args:
      rctx: repository_ctx.
    Returns:
      struct: `environ`: dict[str, str]; `exists(path)`; `names(path)`, those in a folder; `which(program)`
    """
    return struct(
        environ = rctx.os.environ,
        exists = lambda path: rctx.path(path).exists,
        names = lambda path: [child.basename for child in rctx.path(path).readdir()],
        which = rctx.which,
    )

def _folder(on, variable):
    """The folder that an environment variable names; of none, `path` is None and `missing` says so."""
    value = on.environ.get(variable)
    if not value:
        return struct(missing = variable + " is not set", path = None)
    value = value.rstrip("/")
    if not on.exists(value):
        return struct(missing = "{} names {}, which does not exist".format(variable, value), path = None)
    return struct(missing = None, path = value)

def _file(on, folder, path):
    """A path below a folder; without it, `path` is None and `missing` says why."""
    if not folder.path:
        return folder
    path = "{}/{}".format(folder.path, path)
    found = on.exists(path)
    return struct(missing = None if found else "there is no " + path, path = path if found else None)

def version_key(name):
    """A name such as 8.8.02 as what orders it among its like.

    Args:
      name: str.
    Returns:
      list[int]
    """
    return [int(part) if part.isdigit() else 0 for part in name.split(".")]

def build_id(header):
    """The build id in the text of QnnSdkBuildId.h.

    Args:
      header: str.
    Returns:
      str; empty if there is none.
    """
    for line in header.splitlines():
        if "QNN_SDK_BUILD_ID" in line and line.count("\"") == 2:
            return line.split("\"")[1]
    return ""

def _hexagon_sdk(on, hexagon, arch):
    """The Hexagon SDK for a DSP: the release beside the one that is named, or else that one; and a compiler in it."""
    if not hexagon.path:
        return struct(root = hexagon, tools = hexagon)
    release, compiler = _HEXAGON_SDKS[arch]
    beside = "{}/hexagon-sdk-{}".format(hexagon.path.rpartition("/")[0], release)
    root = beside if on.exists(beside) else hexagon.path
    versions = root + "/tools/HEXAGON_Tools"
    found = sorted(on.names(versions), key = version_key) if on.exists(versions) else []
    if compiler not in found and found:
        compiler = found[-1]
    return struct(
        root = struct(missing = None, path = root),
        tools = struct(missing = None, path = "{}/{}/Tools".format(versions, compiler)),
    )

def platforms(on):
    """What compiles for each kind of processor.

    Args:
      on: the machine, as `_machine` describes it.
    Returns:
      dict[str, struct]: `compiler`, `compile_flags`, `link_flags`, `role`, and what is `missing`: list[str]
    """
    qnn, hexagon, ndk = [_folder(on, variable) for variable in _ENVIRON[:3]]
    include = _file(on, qnn, "include/QNN")
    tools = _hexagon_sdk(on, hexagon, _HOST).tools
    native = _file(on, tools, "libnative/include")
    common = [
        "-std=c++17",
        "-O2",
        "-fPIC",
        "-stdlib=libc++",
        "-Wno-format",
        "-I{}".format(include.path),
        "-DQNN_API=" + _VISIBLE,
        "-D__QAIC_HEADER_EXPORT=" + _VISIBLE,
    ]
    host = [
        "-D__HVXDBL__",
        "-DUSE_OS_LINUX",
        "-I{}".format(native.path),
        "-ffast-math",
        "-fomit-frame-pointer",
        "-Wno-invalid-offsetof",
    ]
    x86 = on.environ.get("X86_CXX") or on.which("clang++")
    x86 = struct(missing = None if x86 else "there is no clang++ on the PATH, and X86_CXX is not set", path = x86 and str(x86))
    clang = _file(on, ndk, "toolchains/llvm/prebuilt/linux-x86_64/bin/clang++")
    android = ["--target=aarch64-none-linux-android21"]
    found = {
        "aarch64_android": _platform(
            clang,
            [include, native],
            role = "CPU.AARCH64_ANDROID",
            compile_flags = common + host + android + ["-DANDROID"],
            link_flags = android + [
                "-stdlib=libc++",
                "-static-libstdc++",
                "-L{}/lib/aarch64-android".format(qnn.path),
                "-lQnnHtp",
                "-lQnnHtpPrepare",
            ],
        ),
        # Packages for the CPU backend need no Hexagon SDK.
        "cpu_aarch64_android": _platform(
            clang,
            [include],
            role = "CPU.AARCH64_ANDROID",
            compile_flags = common + android,
            link_flags = android + ["-stdlib=libc++", "-static-libstdc++"],
        ),
        "cpu_x86_64": _platform(
            x86,
            [include],
            role = "CPU.X86_64",
            compile_flags = common,
            link_flags = ["-stdlib=libc++"],
        ),
        "x86_64": _platform(
            x86,
            [include, native],
            role = "CPU.X86_64",
            compile_flags = common + host,
            link_flags = [
                "-stdlib=libc++",
                "-Wl,--whole-archive",
                "-L{}/libnative/lib".format(tools.path),
                "-lnative",
                "-Wl,--no-whole-archive",
                "-lpthread",
            ],
        ),
    }
    for arch in _HEXAGON_SDKS:
        sdk = _hexagon_sdk(on, hexagon, arch)
        rtos = _file(on, sdk.root, "rtos/qurt/compute{}/include".format(arch))
        found["hexagon_" + arch] = _platform(
            _file(on, sdk.tools, "bin/hexagon-clang++"),
            [include, rtos],
            role = "HTP.AARCH64_ANDROID",
            compile_flags = common + [
                "-m" + arch,
                "-mhvx",
                "-mhvx-length=128B",
                "-mhmx",
                "-DUSE_OS_QURT",
                "-DPREPARE_DISABLED",
                "-I{}/qurt".format(rtos.path),
                "-I{}/posix".format(rtos.path),
                "-I{}/incs".format(sdk.root.path),
                "-I{}/incs/stddef".format(sdk.root.path),
            ],
            link_flags = ["-m" + arch],
        )
    return found

def _platform(compiler, needed, **attributes):
    """A platform with what it misses, each reason once."""
    missing = {need.missing: None for need in needed + [compiler] if need.missing}
    return struct(compiler = compiler.path, missing = missing.keys(), **attributes)

def skipped(on, found):
    """Which processors no op package is built for, and why, on a machine that has an SDK.

    Args:
      on: the machine, as `_machine` describes it.
      found: what `platforms` returns.
    Returns:
      str; empty if there is nothing to say.
    """
    if not [variable for variable in _ENVIRON[:3] if on.environ.get(variable)]:
        return ""
    lines = ["  {}: {}".format(name, "; ".join(platform.missing)) for name, platform in found.items() if platform.missing]
    return "\n".join(["Targets of qnn_op_package for these processors are skipped:"] + lines) if lines else ""

def _qnn_repository_impl(rctx):
    on = _machine(rctx)
    qnn = _folder(on, "QNN_SDK_ROOT")
    header = _file(on, qnn, "include/QNN/QnnSdkBuildId.h").path
    sdk_build_id = build_id(rctx.read(header)) if header else ""
    text = _HEADER.format(root = repr(qnn.path or ""))
    all_platforms = platforms(on)
    message = skipped(on, all_platforms)
    if message:
        print(message)  # buildifier: disable=print
    for name, platform in all_platforms.items():
        found = not platform.missing
        text += _PLATFORM.format(
            compatible = "@platforms//os:linux" if found else "@platforms//:incompatible",
            compile_flags = platform.compile_flags if found else [],
            compiler = repr(platform.compiler if found else ""),
            link_flags = platform.link_flags if found else [],
            name = name,
            role = platform.role,
            sdk_build_id = repr(sdk_build_id),
        )
    rctx.file("BUILD.bazel", text)

qnn_repository = repository_rule(
    doc = """Qualcomm's AI Engine Direct and Hexagon SDKs and Android's NDK, where QNN_SDK_ROOT, HEXAGON_SDK_ROOT and
ANDROID_NDK_ROOT name the user's own copies. Several releases of the Hexagon SDK lie beside each other, as hexagon-sdk-<release>.

Without those that a platform needs, `@<name>//:<platform>_found` is a constraint that no platform has.""",
    implementation = _qnn_repository_impl,
    environ = _ENVIRON + ["PATH"],
    configure = True,
    local = True,
)
