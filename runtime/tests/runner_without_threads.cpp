#include "runtime/runner/runner.h"

int main(int argc, char** argv) { return rules_executorch::RunnerMain(argc, argv, {}); }
