// Jinja templates as Hugging Face renders chat templates: jinja2's immutable sandbox with trim_blocks, lstrip_blocks, loop controls,
// generation tags, tojson, raise_exception and strftime_now; values in Python's spelling.
//
// Where it differs from jinja2: integers have 64 bits (leaving them is an error; a larger one in the context becomes a float), other
// templates cannot be loaded, and work, memory, nesting and output are bounded (runtime.h) so that a hostile template ends in an error.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/template_error.h"

namespace headrace::jinja {

namespace ast {
struct Tree;
}

struct RenderOptions {
  std::optional<std::tm> now;      // what strftime_now sees; the local time if not given. See parse_time() in strftime.h.
  int64_t max_steps = 50'000'000;  // of work: an expression, an item, a few bytes of text; all of them take seconds
};

// Immutable; may be rendered by several threads at once.
class Template {
 public:
  // `name` stands in error messages. Throws TemplateError.
  static Template parse(std::string_view source, std::string_view name);

  // `context` is an object: its members are the template's variables. Throws TemplateError, also for raise_exception.
  std::string render(const nlohmann::ordered_json& context, const RenderOptions& options = {}) const;

 private:
  Template(std::string name, std::shared_ptr<const ast::Tree> tree) : name_(std::move(name)), tree_(std::move(tree)) {}
  std::string name_;
  std::shared_ptr<const ast::Tree> tree_;
};

}  // namespace headrace::jinja
