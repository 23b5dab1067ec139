#include "plugin/adapters.h"
#include "plugin/plugin_attributes.h"

namespace headrace {
namespace {

using Part = std::shared_ptr<const PluginPart<headrace_logits_processor>>;

class PluginLogitsProcessor : public LogitsProcessor {
 public:
  PluginLogitsProcessor(Part part, const std::string& name, const std::string& options, int vocab_size)
      : part_(std::move(part)), what_("logits processor '" + name + "'") {
    if (!part_->c.make) {
      if (!options.empty()) invalid("{}: takes no options, '{}' was given", what_, printable(options));
      return;
    }
    CallContext context;
    call_plugin(*part_->library, what_, context,
                [&](headrace_context* c) { return part_->c.make(c, part_->c.user, options.c_str(), size_t(vocab_size), &state_); });
    made_ = true;
  }
  ~PluginLogitsProcessor() override {
    try {
      if (made_) part_->c.destroy(part_->c.user, state_);
    } catch (...) {  // none may leave it
    }
  }

  void process(std::span<const int32_t> tokens, int num_prompt, std::span<float> logits) override {
    const headrace_logits row{.struct_size = sizeof(headrace_logits),
                              .tokens = tokens.data(),
                              .num_tokens = tokens.size(),
                              .num_prompt = size_t(num_prompt),
                              .logits = logits.data(),
                              .vocab_size = logits.size()};
    CallContext context;
    call_plugin(*part_->library, what_, context, [&](headrace_context* c) { return part_->c.process(c, part_->c.user, state_, &row); });
  }

 private:
  Part part_;
  std::string what_;
  void* state_ = nullptr;
  bool made_ = false;
};

}  // namespace

MakeLogitsProcessor adapt(Part part) {
  check_plugin_name(part->c.name, "a logits processor");
  if (!part->c.process || !part->c.make != !part->c.destroy)
    invalid("logits processor '{}': process is wanted, and make and destroy together", part->c.name);
  return [part, name = std::string(part->c.name)](const std::string& options, int vocab_size) -> std::unique_ptr<LogitsProcessor> {
    return std::make_unique<PluginLogitsProcessor>(part, name, options, vocab_size);
  };
}

}  // namespace headrace
