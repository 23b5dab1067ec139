// Takes what a plugin registers during its init.
#pragma once

#include <set>

#include "plugin/adapters.h"

namespace headrace {

// What all plugins of one load have registered so far.
struct PluginCollection {
  std::shared_ptr<OpRegistry> ops = std::make_shared<OpRegistry>();
  KernelRegistry kernels;
  std::set<std::string> kernel_names;
  std::vector<PluginPass> passes;
  std::vector<PluginFamily> families;
  std::vector<CheckpointFormat> formats;
  LogitsProcessors logits_processors;
};

// What a plugin's init got as headrace_registrar*. Each function throws Error for what cannot be or is taken.
class Registrar {
 public:
  Registrar(std::shared_ptr<PluginLibrary> library, PluginCollection& to) : library_(std::move(library)), to_(to) {}
  static Registrar& of(headrace_registrar* registrar) { return *reinterpret_cast<Registrar*>(registrar); }
  headrace_registrar* handle() { return reinterpret_cast<headrace_registrar*>(this); }

  void describe(const char* name, const char* version);
  void add(const headrace_op* op);
  void add(const headrace_kernel* kernel);
  void add(const headrace_pass* pass);
  void add(const headrace_family* family);
  void add(const headrace_format* format);
  void add(const headrace_logits_processor* processor);

  PluginInfo info() const;

 private:
  std::shared_ptr<PluginLibrary> library_;
  PluginCollection& to_;
  PluginInfo info_;  // its lists
};

}  // namespace headrace
