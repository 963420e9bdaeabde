// Uses a function that is defined nowhere, and raises where it is told to.
#include <stdexcept>

#ifdef RAISES
static const int value = [] {
  throw std::runtime_error("no licence for this library");
  return 0;
}();
int Value() { return value; }
#else
namespace mine {
struct Settings;
int Forgotten(const Settings* settings);
}  // namespace mine

int Value() { return mine::Forgotten(nullptr); }
#endif
