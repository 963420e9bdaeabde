"""Macros gcc_toolchain, gcc_cortex_m_toolchain, gcc_linux_toolchain and gcc_windows_toolchain."""

# rules_cc has no other configuration of GCC and Clang, and LLVM's toolchains use this one, too.
# buildifier: disable=bzl-visibility
load("@rules_cc//cc/private/toolchain:unix_cc_toolchain_config.bzl", "cc_toolchain_config")

# buildifier: disable=bzl-visibility
load("@rules_cc//cc/private/toolchain:windows_cc_toolchain_config.bzl", windows_cc_toolchain_config = "cc_toolchain_config")
load("@rules_cc//cc/toolchains:cc_toolchain.bzl", "cc_toolchain")

# The configuration requires llvm-cov, which is never run.
_TOOL_PATHS = {tool: "bin/" + tool for tool in [
    "ar",
    "cpp",
    "gcc",
    "gcov",
    "ld",
    "llvm-cov",
    "nm",
    "objcopy",
    "objdump",
    "strip",
]}

# With this flag, paths are relative to the execution root.
_RELATIVE_PATHS = "-no-canonical-prefixes"

_REPRODUCIBLE_FLAGS = [
    "-fno-canonical-system-headers",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
]
_CXX_FLAGS = ["-std=c++17"]

def _declare_toolchain(include_folders, libraries, binutils):
    """Declares the toolchain of `:config`, and its files."""
    native.filegroup(
        name = "binutils",
        srcs = native.glob(["bin/*", "usr/bin/*"] + binutils),
    )
    native.filegroup(
        name = "compiler",
        srcs = [":binutils"] + native.glob([folder + "/**" for folder in include_folders]),
    )
    native.filegroup(
        name = "libraries",
        srcs = native.glob(libraries),
    )
    native.filegroup(
        name = "all_files",
        srcs = [":compiler", ":libraries"],
    )
    cc_toolchain(
        name = "toolchain",
        all_files = ":all_files",
        ar_files = ":binutils",
        as_files = ":compiler",
        compiler_files = ":compiler",
        dwp_files = ":binutils",
        linker_files = ":all_files",
        objcopy_files = ":binutils",
        strip_files = ":binutils",
        toolchain_config = ":config",
    )

def gcc_toolchain(
        target,
        include_folders,
        libraries,
        binutils = [],
        compile_flags = [],
        cxx_flags = [],
        link_flags = [],
        unfiltered_compile_flags = [],
        **kwargs):
    """Declares a C++ toolchain from the files of a gcc_repository, as `toolchain`, and its libraries as `libraries`.

    Args:
      target: the prefix of the names of the compiler's programs.
      include_folders: the folders of the headers of the compiler and of the C and C++ libraries.
      libraries: patterns of the files to link.
      binutils: patterns of further files that the tools need.
      compile_flags: flags of the compiler.
      cxx_flags: flags of the compiler for C++ only.
      link_flags: flags of the linker.
      unfiltered_compile_flags: flags of the compiler, after the user's flags.
      **kwargs: attributes of cc_toolchain_config.
    """
    _declare_toolchain(include_folders, libraries, binutils)
    cc_toolchain_config(
        name = "config",
        compile_flags = [_RELATIVE_PATHS] + compile_flags,
        compiler = "gcc",
        cxx_builtin_include_directories = include_folders,
        cxx_flags = _CXX_FLAGS + cxx_flags,
        host_system_name = "local",
        link_flags = [_RELATIVE_PATHS] + link_flags,
        supports_start_end_lib = False,
        target_system_name = target,
        tool_paths = _TOOL_PATHS,
        toolchain_identifier = target,
        unfiltered_compile_flags = unfiltered_compile_flags + _REPRODUCIBLE_FLAGS,
        **kwargs
    )

# As gcc_toolchain, the macro is the whole of a BUILD file.
# buildifier: disable=unnamed-macro
def gcc_cortex_m_toolchain(cpu, processor, libraries):
    """Declares a C++ toolchain for a Cortex-M without an operating system from the files of a gcc_repository.

    Args:
      cpu: the architecture, as Bazel's C++ rules name it.
      processor: flags that name the processor.
      libraries: the folder of the compiler's libraries for the processor, as `-print-multi-directory` says.
    """
    target = "arm-none-eabi"
    root = native.package_relative_label(":toolchain").workspace_root
    headers = "usr/include/newlib"
    cpp_headers = headers + "/c++/12.2.1"
    native.exports_files(["bin/size"])
    gcc_toolchain(
        abi_libc_version = "newlib",
        abi_version = "eabi",
        binutils = ["usr/lib/{}/bin/*".format(target)],
        # Flags for small code, and for a processor without an operating system.
        compile_flags = processor + [
            "-mthumb",
            "-mfloat-abi=hard",
            "-Os",
            "-fno-exceptions",
            "-ffunction-sections",
            "-fdata-sections",
            "-Wall",
            # The warnings are about object files of older compilers, which do not occur.
            "-Wno-psabi",
            "-DET_LOG_ENABLED=0",
            "-DNDEBUG",
        ] + ["-isystem{}/{}".format(root, folder) for folder in [
            cpp_headers,
            "{}/{}/{}".format(cpp_headers, target, libraries),
            headers,
        ]],
        cpu = cpu,
        cxx_flags = [
            "-fno-rtti",
            "-fno-threadsafe-statics",
        ],
        include_folders = [
            "usr/lib/gcc",
            headers,
        ],
        libraries = ["usr/lib/{}/newlib/**".format(target)],
        link_flags = processor + [
            "-mthumb",
            "-mfloat-abi=hard",
            "-nostartfiles",
            "-L{}/usr/lib/{}/newlib/{}".format(root, target, libraries),
            "-Wl,--gc-sections",
            # Assembly of newlib does not say that it needs no executable stack, of which the linker would warn.
            "-Wl,-z,noexecstack",
        ],
        link_libs = [
            "-lm",
            # An image has fixed addresses, also with --force_pic.
            "-no-pie",
        ],
        target = target,
        target_libc = "newlib",
        unfiltered_compile_flags = ["-fno-pic"],
    )

# buildifier: disable=unnamed-macro
def gcc_linux_toolchain(target, cpu, loader):
    """Declares a C++ toolchain for Linux from the files of a gcc_repository, and the dynamic loader as `loader`.

    An emulator needs the loader and `libraries`.

    Args:
      target: the prefix of the names of the compiler's programs.
      cpu: the processor, as Bazel's C++ rules name it.
      loader: the name of the dynamic loader.
    """
    native.filegroup(
        name = "loader",
        srcs = ["usr/{}/lib/{}".format(target, loader)],
    )
    gcc_toolchain(
        abi_libc_version = "glibc",
        abi_version = "gcc",
        binutils = [
            "usr/lib/x86_64-linux-gnu/*",
            "usr/{}/bin/*".format(target),
        ],
        compile_flags = [
            "-fstack-protector",
            "-Wall",
            "-fno-omit-frame-pointer",
        ],
        cpu = cpu,
        dbg_compile_flags = ["-g"],
        include_folders = [
            "usr/lib/gcc-cross",
            "usr/{}/include".format(target),
        ],
        libraries = ["usr/{}/lib/**".format(target)],
        link_flags = [
            "-Wl,-z,relro,-z,now",
            # The path of the dependencies of shared libraries.
            "-Wl,-rpath-link,{}/usr/{}/lib".format(
                native.package_relative_label(":toolchain").workspace_root,
                target,
            ),
            "-pass-exit-codes",
        ],
        link_libs = [
            "-Wl,--push-state,-as-needed",
            "-lstdc++",
            "-lm",
            "-Wl,--pop-state",
        ],
        opt_compile_flags = [
            "-g0",
            "-O2",
            "-D_FORTIFY_SOURCE=1",
            "-DNDEBUG",
            "-ffunction-sections",
            "-fdata-sections",
        ],
        opt_link_flags = ["-Wl,--gc-sections"],
        target = target,
        target_libc = "glibc",
    )

# buildifier: disable=unnamed-macro
def gcc_windows_toolchain(target):
    """Declares a C++ toolchain for Windows from the files of a gcc_repository. Programs need no libraries of the compiler.

    Args:
      target: the prefix of the names of the compiler's programs.
    """
    include_folders = [
        "usr/lib/gcc",
        "usr/{}/include".format(target),
    ]
    _declare_toolchain(
        binutils = ["usr/{}/bin/*".format(target)],
        include_folders = include_folders,
        libraries = ["usr/{}/lib/**".format(target)],
    )
    windows_cc_toolchain_config(
        name = "config",
        abi_libc_version = "local",
        abi_version = "local",
        compiler = "mingw-gcc",
        cpu = "x64_windows",
        cxx_builtin_include_directories = include_folders,
        default_compile_flags = [
            _RELATIVE_PATHS,
            "-Wall",
            # The functions of the C standard in place of Microsoft's, whose formats the compiler would check.
            "-D__USE_MINGW_ANSI_STDIO=1",
            "-Wno-format",
        ] + _CXX_FLAGS + _REPRODUCIBLE_FLAGS,
        default_link_flags = [_RELATIVE_PATHS, "-static"],
        host_system_name = "local",
        target_libc = "mingw",
        target_system_name = target,
        tool_paths = _TOOL_PATHS,
        toolchain_identifier = target,
    )
