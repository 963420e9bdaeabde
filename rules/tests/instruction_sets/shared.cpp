#include "rules/tests/instruction_sets/level.h"

int shared_level() { return COMPILED_LEVEL; }
