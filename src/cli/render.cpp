// headrace render: a chat template with any context.
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "headrace/chat_template.h"
#include "jinja/strftime.h"
#include "jinja/template.h"

namespace headrace::cli {
namespace {

struct RenderSettings {
  std::string source, context, now;
};

// A model's template sees its special tokens, unless the context has others.
std::string render_model(const std::string& path, const OrderedJson& context, std::optional<std::tm> now) {
  const std::shared_ptr<const ChatTemplate> chat_template = load_chat_template(path);
  if (!chat_template) fail(ErrorCode::kNotFound, "{}: has no chat template", path);
  const auto part = [&](const char* key) { return context.contains(key) ? context[key].dump() : std::string(); };
  const auto is_set = [&](const char* key) { return context.contains(key) && context[key].is_boolean() && context[key].get<bool>(); };
  const auto array = [&](const char* key) { return context.contains(key) && context[key].is_null() ? std::string() : part(key); };
  return chat_template->render_json(part("messages"), {.add_generation_prompt = is_set("add_generation_prompt"),
                                                       .continue_final_message = is_set("continue_final_message"),
                                                       .tools = array("tools"),
                                                       .documents = array("documents"),
                                                       .variables = context.dump(),
                                                       .now = now});
}

int render(const RenderSettings& s) {
  jinja::RenderOptions options;
  if (!s.now.empty()) options.now = jinja::parse_time(s.now);
  const OrderedJson context = parse_ordered_json(s.context == "-" ? read_input() : read_file(s.context), s.context);
  if (!context.is_object()) invalid("{}: the context is {}, wanted a JSON object", s.context, context.type_name());
  const bool is_template = s.source.ends_with(".jinja") || s.source.ends_with(".jinja2") || s.source.ends_with(".j2");
  write_output(is_template ? jinja::Template::parse(read_file(s.source), s.source).render(context, options)
                           : render_model(s.source, context, options.now));
  return 0;
}

}  // namespace

void declare_render(Options& options) {
  const auto s = std::make_shared<RenderSettings>();
  options.positional("MODEL", s->source, "a model with a chat template, or a template (.jinja)");
  options.value("--context", "FILE", s->context, "JSON: messages, tools, add_generation_prompt, bos_token ...; '-' is standard input");
  options.value("--now", "DATE", s->now, "what the template takes for today: YYYY-MM-DD [HH:MM[:SS]]");
  options.run([s] {
    if (s->context.empty()) throw UsageError("--context FILE is missing");
    return render(*s);
  });
}

}  // namespace headrace::cli
