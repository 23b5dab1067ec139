#include "jinja/template.h"

#include "core/json.h"
#include "jinja/evaluator.h"
#include "jinja/parser.h"

namespace headrace::jinja {
namespace {

std::tm local_time() {
  const std::time_t seconds = std::time(nullptr);
  std::tm time{};
  localtime_r(&seconds, &time);
  return time;
}

}  // namespace

Template Template::parse(std::string_view source, std::string_view name) {
  return Template(std::string(name), std::make_shared<const ast::Tree>(parse_template(source, name)));
}

std::string Template::render(const OrderedJson& context, const RenderOptions& options) const {
  if (!context.is_object()) invalid("{}: the context is {}, wanted an object", name_, context.type_name());
  Runtime runtime(options.now ? *options.now : local_time(), options.max_steps);
  try {
    return Evaluator(runtime, *tree_, context).run();
  } catch (const Error& error) {
    throw TemplateError(error.code, name_, runtime.line, error.what());
  }
}

}  // namespace headrace::jinja
