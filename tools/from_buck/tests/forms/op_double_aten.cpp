#include <c10/util/Exception.h>

namespace forms {

// With PyTorch's headers.
void check_factor(int factor) { TORCH_CHECK(factor == 2, "not twice but ", factor); }

}  // namespace forms
