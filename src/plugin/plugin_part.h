// Something that a plugin has registered, as it was registered.
#pragma once

#include "plugin/call_context.h"

namespace headrace {

// Owns the registered struct's `user`, and keeps the library open.
template <typename T>
struct PluginPart {
  PluginPart(std::shared_ptr<PluginLibrary> opened, const T& given) : library(std::move(opened)), c(given) {}
  ~PluginPart() {
    try {
      if (c.free_user) c.free_user(c.user);
    } catch (...) {  // none may leave it, and nobody could do anything about it
    }
  }
  PluginPart(const PluginPart&) = delete;
  PluginPart& operator=(const PluginPart&) = delete;

  const std::shared_ptr<PluginLibrary> library;  // first: it goes last
  const T c;                                     // its pointers to names and fields are valid only while it is registered
};

// Throws Error(kInvalidArgument) for a struct that is smaller than the interface's first.
template <typename T>
std::shared_ptr<const PluginPart<T>> take_part(std::shared_ptr<PluginLibrary> library, const T* given) {
  if (!given || given->struct_size < sizeof(T))
    invalid("a struct of {} bytes, at least {} are wanted: is struct_size set?", given ? given->struct_size : 0, sizeof(T));
  return std::make_shared<const PluginPart<T>>(std::move(library), *given);
}

}  // namespace headrace
