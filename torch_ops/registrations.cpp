// Intercepts PyTorch's registration functions in a process that loads one operator library, and records the
// registrations of each library. The symbols of a library are not sufficient: for a namespace that is a macro, they
// have the macro's name only. The dynamic linker looks up functions in globally loaded libraries (RTLD_GLOBAL) before
// PyTorch's own libraries, so these functions are called in place of PyTorch's functions, and call them. This file
// includes no headers of PyTorch, so it works with any version that the process has loaded.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

// torch::Library::Library(Kind, std::string, std::optional<c10::DispatchKey>, const char*, uint32_t)
#define LIBRARY_CONSTRUCTOR                                                                        \
  "_ZN5torch7LibraryC1ENS0_4KindENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt8optionalI" \
  "N3c1011DispatchKeyEEPKcj"
// const char* c10::toString(c10::DispatchKey)
#define KEY_TO_STRING "_ZN3c108toStringENS_11DispatchKeyE"

namespace {

using Key = uint16_t;

std::FILE* notes = nullptr;

template <typename Function>
Function* InTorch(const char* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen(library, RTLD_LAZY | RTLD_NOLOAD), name));
}

void Note(const void* caller, const char* kind, const char* ns, const char* key, const char* file, uint32_t line) {
  Dl_info object;
  if (notes == nullptr || dladdr(caller, &object) == 0) return;
  std::fprintf(notes, "%s\t%s\t%s\t%s\t%s\t%u\n", object.dli_fname, kind, ns, key, file, line);
  std::fflush(notes);  // The process may be about to abort.
}

}  // namespace

extern "C" {

void NoteRegistrations(const char* path) { notes = std::fopen(path, "w"); }

void ConstructLibrary(void* library, int kind, std::string ns, std::optional<Key> key, const char* file,
                      uint32_t line) asm(LIBRARY_CONSTRUCTOR);

void ConstructLibrary(void* library, int kind, std::string ns, std::optional<Key> key, const char* file,
                      uint32_t line) {
  static const char* const kinds[] = {"library", "impl", "fragment"};
  const char* name = key ? InTorch<const char*(Key)>("libc10.so", KEY_TO_STRING)(*key) : "";
  Note(__builtin_return_address(0), kinds[kind], ns.c_str(), name, file, line);
  InTorch<decltype(ConstructLibrary)>("libtorch_cpu.so", LIBRARY_CONSTRUCTOR)(library, kind, std::move(ns), key, file,
                                                                              line);
}

int32_t aoti_torch_library_init_def(const char* ns, const char* file, uint32_t line, void** library) {
  Note(__builtin_return_address(0), "library", ns, "", file, line);
  return InTorch<decltype(aoti_torch_library_init_def)>("libtorch_cpu.so", __func__)(ns, file, line, library);
}

int32_t aoti_torch_library_init_fragment(const char* ns, const char* file, uint32_t line, void** library) {
  Note(__builtin_return_address(0), "fragment", ns, "", file, line);
  return InTorch<decltype(aoti_torch_library_init_fragment)>("libtorch_cpu.so", __func__)(ns, file, line, library);
}

int32_t aoti_torch_library_init_impl(const char* ns, const char* key, const char* file, uint32_t line, void** library) {
  Note(__builtin_return_address(0), "impl", ns, key, file, line);
  return InTorch<decltype(aoti_torch_library_init_impl)>("libtorch_cpu.so", __func__)(ns, key, file, line, library);
}
}
