// Checks for tests with their own main function.

#pragma once

#include <cstdio>
#include <cstdlib>

/// Prints the location and ends the test unless `condition` is true.
#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)
