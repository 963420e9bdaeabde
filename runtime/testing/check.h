// Conditions of tests that are programs of their own.

#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the test, and says where, unless `condition` holds.
#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)
