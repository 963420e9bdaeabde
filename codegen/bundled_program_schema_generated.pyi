# flatc chooses these names.
# ruff: noqa: N802
"""The part of flatc's output for bundled_program_schema.fbs that the code generator uses.

flatc writes the module itself in the build: `flatc --python --gen-onefile bundled_program_schema.fbs`.
"""

class _Table:
    def Offset(self, vtableOffset: int) -> int: ...  # noqa: N803
    def Vector(self, off: int) -> int: ...

class BundledProgram:
    _tab: _Table
    @classmethod
    def GetRootAs(cls, buf: memoryview, offset: int = 0) -> BundledProgram: ...
    @classmethod
    def BundledProgramBufferHasIdentifier(cls, buf: memoryview, offset: int, size_prefixed: bool = False) -> bool: ...
    def ProgramLength(self) -> int: ...
