#pragma once

#include <cstdint>

namespace rules_executorch::kernels::testing {

/// Sets the number of threads among which kernels divide their work; the default is 1. Returns the previous number.
int64_t set_thread_count(int64_t count);

/// The largest number of parts of a range since the last call of this function.
int64_t take_part_count();

}  // namespace rules_executorch::kernels::testing
