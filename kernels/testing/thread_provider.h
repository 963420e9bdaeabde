#pragma once

#include <cstdint>

namespace rules_executorch::kernels::testing {

/// How many threads run what kernels divide, 1 until a test says otherwise. Returns how many it were.
int64_t set_thread_count(int64_t count);

/// The largest number of parts that a range was divided into since the last call of this.
int64_t take_part_count();

}  // namespace rules_executorch::kernels::testing
