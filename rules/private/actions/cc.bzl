"""How the rules compile and link C++."""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "CC_TOOLCHAIN_TYPE", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load(":label_text.bzl", "refuse_odd_name")

visibility(["//rules/..."])

# What ExecuTorch's headers need, and how `-std=` spells what is older.
_STANDARD = "c++17"
_OLDER_STANDARDS = ["98", "03", "0x", "11", "1y", "14"]

# The flags of these features name files of one compilation, so that a command line of no compilation cannot have the features.
FEATURES_OF_COMPILATIONS = ["layering_check", "module_maps"]

# Not for sources that one source includes, nor for those of another target, whose own compilation checks their layers: the
# check allows headers of direct dependencies only.
FEATURES_OF_OWN_SOURCES = ["layering_check"]

# Bazel links in the exec group of this name, where a rule has one.
CC_LINK_EXEC_GROUPS = {"cpp_link": exec_group(toolchains = use_cc_toolchain(mandatory = True))}

def configure_cc(ctx, unsupported_features = []):
    """The C++ toolchain with the features that a target asks for.

    Args:
      ctx: of a rule with a C++ toolchain and the fragment `cpp`.
      unsupported_features: list[str], beside those that the target turns off.
    Returns:
      struct(ctx: ctx, toolchain: CcToolchainInfo, features: FeatureConfiguration)
    """
    refuse_odd_name(ctx.label)
    toolchain = find_cc_toolchain(ctx)
    return struct(
        ctx = ctx,
        features = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features + unsupported_features,
        ),
        toolchain = toolchain,
    )

def group_cc_toolchain(ctx, group):
    """The C++ toolchain that runs where the actions of an exec group run.

    Args:
      ctx: the rule's context.
      group: str, an exec group with a C++ toolchain.
    Returns:
      CcToolchainInfo
    """
    info = ctx.exec_groups[group].toolchains[CC_TOOLCHAIN_TYPE]
    return info.cc if hasattr(info, "cc_provider_in_toolchain") and hasattr(info, "cc") else info

def _last(flags, prefix):
    found = [flag.removeprefix(prefix) for flag in flags if flag.startswith(prefix)]
    return found[-1] if found else None

def _default_flags(cc, flags):
    """What a kernel needs and neither the user nor the toolchain asks for: C++17, and -O2 unless for a debugger.

    A user's workspace has no say in this by default: its toolchain may be for C++14, and does not optimize.

    Args:
      cc: what configure_cc returned.
      flags: list[str], options of the target.
    Returns:
      list[str]
    """
    cpp = cc.ctx.fragments.cpp
    users = cpp.copts + cpp.cxxopts + flags
    features = configure_cc(cc.ctx, FEATURES_OF_COMPILATIONS).features
    toolchains = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = cc.toolchain,
        ),
    )
    defaults = []
    standard = _last(toolchains, "-std=")
    if not _last(users, "-std=") and (not standard or standard.partition("++")[2] in _OLDER_STANDARDS):
        defaults.append("-std=" + _STANDARD)
    if cc.ctx.var["COMPILATION_MODE"] != "dbg":
        if _last(users, "-O") == None and _last(toolchains, "-O") in [None, "0"]:
            defaults.append("-O2")

        # Each function by itself, so that a linker can leave it out.
        defaults += [flag for flag in ["-ffunction-sections", "-fdata-sections"] if flag not in toolchains]
    return defaults

def default_link_flags(cc):
    """What leaves functions that nothing calls out of an executable in Bazel's default mode; toolchains do so with -c opt.

    Args:
      cc: what configure_cc returned.
    Returns:
      list[str]
    """
    is_elf = not cc.toolchain.cpu.startswith("darwin")
    return ["-Wl,--gc-sections"] if is_elf and cc.ctx.var["COMPILATION_MODE"] == "fastbuild" else []

def compile_cc(cc, name = None, user_compile_flags = [], **kwargs):
    """Compiles sources, as C++17 and with -O2 unless somebody asks for something else.

    Args:
      cc: what configure_cc returned.
      name: str, of the directory of the object files. Default: the target's name.
      user_compile_flags: list[str], options of the target.
      **kwargs: srcs, public_hdrs, compilation_contexts and the others of cc_common.compile.
    Returns:
      (CompilationContext, CcCompilationOutputs)
    """
    return cc_common.compile(
        name = name or cc.ctx.label.name,
        actions = cc.ctx.actions,
        cc_toolchain = cc.toolchain,
        feature_configuration = cc.features,
        user_compile_flags = _default_flags(cc, user_compile_flags) + user_compile_flags,
        **kwargs
    )

def include_path(file):
    """The path by which an `#include` finds a source file or a generated one, with include_roots."""
    return "external/" + file.short_path.removeprefix("../") if file.short_path.startswith("../") else file.short_path

def include_roots(ctx, files):
    """For sources that other sources include by include_path.

    Args:
      ctx: the rule's context.
      files: list[File], the included sources.
    Returns:
      CompilationContext
    """
    return cc_common.create_compilation_context(
        headers = depset(files),
        quote_includes = depset([".", ctx.bin_dir.path]),
    )

# On average, of operators' files. Such a unit takes as long to compile as two or three of these files.
SOURCES_PER_UNIT = 6

def unity_sources(ctx, files, number = 1):
    """Makes translation units of several sources each. Headers take most of the time to compile a small source.

    The unit of a source depends on its path and the number of units only, so that another source changes one unit.

    Args:
      ctx: the rule's context.
      files: list[File], the sources.
      number: int, the number of units. A unit without sources is left out.
    Returns:
      list[File], which compile with include_roots of the sources.
    """
    units = {}
    for file in files:
        units.setdefault(hash(file.path) % number, []).append(file)
    sources = []
    for i, unit in units.items():
        if len(unit) == 1:
            sources += unit
            continue
        source = ctx.actions.declare_file("{}.{}.unity.cpp".format(ctx.label.name, i))
        ctx.actions.write(source, "".join(["#include \"{}\"\n".format(include_path(file)) for file in unit]))
        sources.append(source)
    return sources

def tree_compile_flags(ctx, flags):
    """Compiler options for a directory of sources: Bazel tells C++ by a file's ending, and a directory has none.

    Args:
      ctx: of a rule with the fragment `cpp`.
      flags: list[str], options of the target.
    Returns:
      list[str]
    """
    return ctx.fragments.cpp.cxxopts + flags

def merge_objects(outputs):
    """Unites the object files of several compilations.

    Args:
      outputs: list[CcCompilationOutputs].
    Returns:
      CcCompilationOutputs
    """
    return cc_common.merge_compilation_outputs(compilation_outputs = outputs)

def archive_cc(cc, objects, linking_contexts = [], name = None, alwayslink = False):
    """A static library.

    Args:
      cc: what configure_cc returned.
      objects: CcCompilationOutputs.
      linking_contexts: list[LinkingContext], of the library's dependencies.
      name: str. Default: the target's name.
      alwayslink: bool, whether a binary links the library whole, also what nothing refers to.
    Returns:
      (LinkingContext, LibraryToLink or None)
    """
    linking_context, outputs = cc_common.create_linking_context_from_compilation_outputs(
        name = name or cc.ctx.label.name,
        actions = cc.ctx.actions,
        cc_toolchain = cc.toolchain,
        feature_configuration = cc.features,
        compilation_outputs = objects,
        linking_contexts = linking_contexts,
        alwayslink = alwayslink,
        disallow_dynamic_library = True,
    )
    return linking_context, outputs.library_to_link

def link_cc(cc, objects, linking_contexts, name = None, **kwargs):
    """Links an executable, or with output_type = "dynamic_library" a shared library.

    Args:
      cc: what configure_cc returned.
      objects: CcCompilationOutputs.
      linking_contexts: list[LinkingContext].
      name: str or None, of the file. Default: the target's.
      **kwargs: output_type, user_link_flags and the others of cc_common.link.
    Returns:
      CcLinkingOutputs
    """
    return cc_common.link(
        name = name or cc.ctx.label.name,
        actions = cc.ctx.actions,
        cc_toolchain = cc.toolchain,
        feature_configuration = cc.features,
        compilation_outputs = objects,
        linking_contexts = linking_contexts,
        **kwargs
    )

def shared_library(linked):
    """The file of a shared library.

    Args:
      linked: CcLinkingOutputs of output_type = "dynamic_library".
    Returns:
      File
    """
    library = linked.library_to_link
    return library.resolved_symlink_dynamic_library or library.dynamic_library
