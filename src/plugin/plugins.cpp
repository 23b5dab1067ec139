#include "headrace/plugins.h"

#include <algorithm>

#include "core/log.h"
#include "ops/ops.h"
#include "plugin/call_context.h"
#include "plugin/registrar.h"

namespace headrace {

const PluginFamily* PluginParts::find_family(std::string_view model_type) const {
  const auto at = std::ranges::find(families, model_type, &PluginFamily::model_type);
  return at == families.end() ? nullptr : &*at;
}

const KernelRegistry& kernels_of(const Plugins* plugins) { return plugins ? *plugins->parts().kernels : *builtin_kernels(); }
std::shared_ptr<const OpRegistry> ops_of(const Plugins* plugins) { return plugins ? plugins->ops() : builtin_ops(); }

Plugins::Plugins() = default;
Plugins::~Plugins() = default;
const std::shared_ptr<const OpRegistry>& Plugins::ops() const { return parts_->ops; }

std::shared_ptr<const Plugins> Plugins::load(const std::vector<std::string>& paths) {
  const std::shared_ptr<Plugins> plugins(new Plugins());
  PluginCollection collection;
  register_ops(*collection.ops);
  for (const std::string& path : paths) {
    const std::shared_ptr<PluginLibrary> library = PluginLibrary::open(path);
    Registrar registrar(library, collection);
    CallContext context;
    call_plugin(*library, "init", context, [&](headrace_context* c) { return library->init()(c, registrar.handle()); });
    if (std::ranges::find(plugins->list_, library->name, &PluginInfo::name) != plugins->list_.end())
      invalid("{}: a plugin of this name is already loaded", library->describe());
    plugins->list_.push_back(registrar.info());
    log(LogLevel::kInfo, "{}: loaded", library->describe());
  }
  register_kernels(collection.kernels);  // behind the plugins', which are preferred
  plugins->parts_ =
      std::make_unique<PluginParts>(PluginParts{.ops = std::move(collection.ops),
                                                .kernels = std::make_shared<const KernelRegistry>(std::move(collection.kernels)),
                                                .passes = std::move(collection.passes),
                                                .families = std::move(collection.families),
                                                .formats = std::move(collection.formats),
                                                .logits_processors = std::move(collection.logits_processors)});
  return plugins;
}

}  // namespace headrace
