#include "plugin/library.h"

#include <dlfcn.h>

#include <filesystem>

#include "core/error.h"

namespace headrace {
namespace {

constexpr const char* kEntryPoints[] = {"headrace_plugin_abi_version", "headrace_plugin_init"};

std::string name_of_file(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  return stem.starts_with("lib") ? stem.substr(3) : stem;
}

}  // namespace

PluginLibrary::~PluginLibrary() { dlclose(handle_); }

std::shared_ptr<PluginLibrary> PluginLibrary::open(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail(ErrorCode::kNotFound, "plugin {}: there is no such file", printable(path, 500));
  // An absolute path, for dlopen looks a bare name up in the system's folders.
  void* handle = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    invalid("plugin {}: cannot be loaded as a shared library: {}", path, why ? printable(why, 500) : "the system does not say why");
  }
  const std::shared_ptr<PluginLibrary> library(new PluginLibrary(path, handle));
  library->name = name_of_file(path);
  void* symbols[2];
  for (int i = 0; i < 2; ++i)
    if (!(symbols[i] = dlsym(handle, kEntryPoints[i])))
      invalid("plugin {}: does not export {}; is it a plugin of Headrace (headrace/plugin.h)?", path, kEntryPoints[i]);
  const uint32_t abi = reinterpret_cast<uint32_t (*)()>(symbols[0])();
  if (abi != HEADRACE_PLUGIN_ABI)
    fail(ErrorCode::kUnsupported, "plugin {}: was built for version {} of the plugin interface, Headrace {} has version {}; {}", path, abi,
         headrace::version(), HEADRACE_PLUGIN_ABI,
         abi < HEADRACE_PLUGIN_ABI ? "build it again with this Headrace's headers" : "use a later Headrace");
  library->init_ = reinterpret_cast<Init*>(symbols[1]);
  return library;
}

}  // namespace headrace
