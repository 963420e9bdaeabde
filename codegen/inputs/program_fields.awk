# Takes flatc's Python for program.fbs, and then that for bundled_program.fbs, and gives as Python what it tells of the
# formats. Both have a Tensor; of a bundled program, only the table at its root matters.

# def TensorAddDimOrder(builder, dimOrder):
#     builder.PrependUOffsetTRelativeSlot(3, ...
/^def [A-Za-z]+Add[A-Za-z]+\(builder, / {
    field = $2
    sub(/\(.*/, "", field)
    sub(/Add/, ".", field)
    if (NR != FNR && field !~ /^BundledProgram\./) field = ""
}
field != "" && /^    builder\.Prepend[A-Za-z0-9]*Slot\(/ {
    split($0, parts, /[(,]/)
    fields = fields "    \"" field "\": " parts[2] ",\n"
    field = ""
}

# class KernelTypes(object):
#     Null = 1
/^class / {
    kind = $2
    sub(/\(.*/, "", kind)
}
/^    [A-Za-z]+ = [0-9]+$/ { numbers[kind] = numbers[kind] "    \"" $1 "\": " $3 ",\n" }

#     def ProgramBufferHasIdentifier(cls, buf, offset, size_prefixed=False):
#         return flatbuffers.util.BufferHasIdentifier(buf, offset, b"\x45\x54\x31\x32", ...)
/def (Bundled)?ProgramBufferHasIdentifier/ { root = $2 }
root != "" && match($0, /b"[^"]*"/) {
    identifiers[root ~ /^Bundled/] = substr($0, RSTART, RLENGTH)
    root = ""
}

END {
    print "FIELDS = {\n" fields "}"
    print "VALUES = {\n" numbers["KernelTypes"] "}"
    print "INSTRUCTIONS = {\n" numbers["InstructionArguments"] "}"
    print "PROGRAM_IDENTIFIER = " identifiers[0]
    print "BUNDLED_PROGRAM_IDENTIFIER = " identifiers[1]
}
