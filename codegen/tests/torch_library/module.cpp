// A Python extension module by its symbols. Nobody imports it.
extern "C" void* PyInit_mine() { return nullptr; }
