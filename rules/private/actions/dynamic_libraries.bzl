"""The shared libraries that something linked needs when it runs."""

visibility(["//rules/..."])

def dynamic_libraries(linking_contexts):
    """The shared libraries that linking contexts bring.

    Args:
      linking_contexts: list[LinkingContext].
    Returns:
      list[File]
    """
    return [
        file
        for context in linking_contexts
        for linker_input in context.linker_inputs.to_list()
        for library in linker_input.libraries
        for file in [library.dynamic_library]
        if file and not (library.static_library or library.pic_static_library)
    ]
