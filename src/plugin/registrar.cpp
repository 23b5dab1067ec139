#include "plugin/registrar.h"

#include <algorithm>

#include "plugin/host.h"
#include "plugin/plugin_attributes.h"

namespace headrace {

void Registrar::describe(const char* name, const char* version) {
  check_plugin_name(name, "a plugin");
  library_->name = name, library_->version = version ? version : "";
}

void Registrar::add(const headrace_op* op) {
  OpDef def = adapt(take_part(library_, op));
  info_.ops.push_back(def.name);
  to_.ops->add(std::move(def));
}

void Registrar::add(const headrace_kernel* kernel) {
  KernelDef def = adapt(take_part(library_, kernel));
  if (!to_.ops->find(def.op)) fail(ErrorCode::kNotFound, "kernel '{}': there is no op '{}'; register the op first", def.name, def.op);
  if (!to_.kernel_names.insert(def.name).second) invalid("kernel '{}' is already registered", def.name);
  info_.kernels.push_back(def.name);
  to_.kernels.add(std::move(def));
}

void Registrar::add(const headrace_pass* pass) {
  PluginPass made = adapt(take_part(library_, pass));
  if (std::ranges::find(to_.passes, made.name, &PluginPass::name) != to_.passes.end())
    invalid("pass '{}' is already registered", made.name);
  info_.passes.push_back(made.name);
  to_.passes.push_back(std::move(made));
}

void Registrar::add(const headrace_family* family) {
  PluginFamily made = adapt(take_part(library_, family));
  if (std::ranges::find(to_.families, made.model_type, &PluginFamily::model_type) != to_.families.end())
    invalid("model family '{}' is already registered", made.model_type);
  info_.model_families.push_back(made.model_type);
  to_.families.push_back(std::move(made));
}

void Registrar::add(const headrace_format* format) {
  CheckpointFormat made = adapt(take_part(library_, format));
  if (std::ranges::find(to_.formats, made.name, &CheckpointFormat::name) != to_.formats.end())
    invalid("weight format '{}' is already registered", made.name);
  info_.weight_formats.push_back(made.name);
  to_.formats.push_back(std::move(made));
}

void Registrar::add(const headrace_logits_processor* processor) {
  const auto part = take_part(library_, processor);
  MakeLogitsProcessor made = adapt(part);
  if (!to_.logits_processors.emplace(part->c.name, std::move(made)).second)
    invalid("logits processor '{}' is already registered", part->c.name);
  info_.logits_processors.push_back(part->c.name);
}

PluginInfo Registrar::info() const {
  PluginInfo info = info_;
  info.name = library_->name, info.version = library_->version, info.path = library_->path();
  return info;
}

namespace {

template <typename T>
headrace_status add(headrace_context* context, headrace_registrar* registrar, const T* given) {
  return answer(context, [&](CallContext&) { Registrar::of(registrar).add(given); });
}

}  // namespace

void add_register_functions(headrace_host& h) {
  h.describe = [](headrace_context* c, headrace_registrar* registrar, const char* name, const char* version) {
    return answer(c, [&](CallContext&) { Registrar::of(registrar).describe(name, version); });
  };
  h.register_op = add<headrace_op>;
  h.register_kernel = add<headrace_kernel>;
  h.register_pass = add<headrace_pass>;
  h.register_family = add<headrace_family>;
  h.register_format = add<headrace_format>;
  h.register_logits_processor = add<headrace_logits_processor>;
}

}  // namespace headrace
