// A plugin's shared library.
#pragma once

#include <memory>
#include <string>

#include "headrace/plugin.h"

namespace headrace {

// Held by everything that may call into the library; the last one closes it.
class PluginLibrary {
 public:
  // Throws Error: no such file, no shared library, an entry point that is missing, another ABI version.
  static std::shared_ptr<PluginLibrary> open(const std::string& path);
  ~PluginLibrary();
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  using Init = headrace_status(headrace_context*, headrace_registrar*);
  Init* init() const { return init_; }

  const std::string& path() const { return path_; }
  std::string name, version;  // as the plugin says; until then the file's name
  std::string describe() const { return "plugin '" + name + "' (" + path_ + ")"; }

 private:
  PluginLibrary(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  void* handle_;
  Init* init_ = nullptr;
};

}  // namespace headrace
