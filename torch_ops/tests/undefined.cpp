// Uses a function that is defined nowhere; raises, or ends the process, where it is told to.
#include <cstdlib>
#include <stdexcept>

#ifdef RAISES
static const int value = [] {
  throw std::runtime_error("no license for this library, \xa9");  // Not UTF-8.
  return 0;
}();
int Value() { return value; }
#elif defined(EXITS)
static const int value = [] {
  std::exit(0);
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
