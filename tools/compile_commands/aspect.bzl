"""An aspect that collects the compile commands of C++, and a rule for its test."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_CompileCommandsInfo = provider(
    doc = "The compile commands of targets and their dependencies.",
    fields = {
        "commands": "depset of Files: JSON, a list of commands each.",
        "inputs": "depset of Files: what the compilations read, generated code included.",
    },
)

_MNEMONIC = "CppCompile"

# The ending of a translation unit that includes the sources of a library with unity_build.
_UNITY = ".unity.cpp"

def _commands(action, sources):
    """The commands of an action, one for each source of a translation unit of several."""
    output = action.outputs.to_list()[0].path
    units = [argument for argument in action.argv if argument.endswith(_UNITY)]
    if not units:
        return [{"arguments": action.argv, "output": output}]
    return [
        {"arguments": [source.path if argument in units else argument for argument in action.argv], "output": output}
        for source in sources
    ]

def _compile_commands_aspect_impl(target, ctx):
    actions = [action for action in target.actions if action.mnemonic == _MNEMONIC and action.argv]
    commands = []
    if actions:
        file = ctx.actions.declare_file(ctx.label.name + ".compile_commands.json")
        sources = [source for source in getattr(ctx.rule.files, "srcs", []) if source.extension != "h"]
        ctx.actions.write(file, json.encode_indent([
            command
            for action in actions
            for command in _commands(action, sources)
        ]))
        commands.append(file)
    below = []
    for name in dir(ctx.rule.attr):
        value = getattr(ctx.rule.attr, name, None)
        for dep in value if type(value) == "list" else [value]:
            if type(dep) == "Target" and _CompileCommandsInfo in dep:
                below.append(dep[_CompileCommandsInfo])

    # The inputs of an action do not list the headers of libraries. Bazel finds the used headers from the compiler's output.
    headers = [target[CcInfo].compilation_context.headers] if CcInfo in target else []
    info = _CompileCommandsInfo(
        commands = depset(commands, transitive = [dep.commands for dep in below]),
        inputs = depset(transitive = headers + [action.inputs for action in actions] + [dep.inputs for dep in below]),
    )
    return [info, OutputGroupInfo(compile_commands = info.commands, compile_inputs = info.inputs)]

compile_commands_aspect = aspect(
    doc = """Collects the compile commands of a target and its dependencies as the output group `compile_commands`, and the inputs of
the compilers as `compile_inputs`.""",
    implementation = _compile_commands_aspect_impl,
    attr_aspects = ["*"],
)

def _compile_commands_files_impl(ctx):
    infos = [dep[_CompileCommandsInfo] for dep in ctx.attr.deps]
    commands = depset(transitive = [info.commands for info in infos])
    inputs = depset(transitive = [info.inputs for info in infos])
    return [DefaultInfo(files = commands, runfiles = ctx.runfiles(transitive_files = depset(transitive = [commands, inputs])))]

compile_commands_files = rule(
    doc = "The files with the compile commands of targets. The runfiles have the inputs of the compilers.",
    implementation = _compile_commands_files_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Targets that compile C++, directly or in their dependencies.",
            mandatory = True,
            aspects = [compile_commands_aspect],
        ),
    },
)
