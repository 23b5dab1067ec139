// One call into a plugin, seen from Headrace's side: its error, and what is handed out during it.
#pragma once

#include <deque>
#include <exception>
#include <memory>

#include "core/error.h"
#include "core/thread_pool.h"
#include "plugin/library.h"
#include "plugin/parts.h"

namespace headrace {

const headrace_host& plugin_host();  // host.cpp

// What a C callback got as headrace_context*.
class CallContext : public headrace_context {
 public:
  CallContext() : headrace_context{&plugin_host()} {}
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;
  static CallContext& of(headrace_context* context) { return *static_cast<CallContext*>(context); }

  std::string message;
  std::exception_ptr interrupted;  // came out of a barrier: not the plugin's error, and to be thrown on

  // What the call is made for, where that matters.
  Team* team = nullptr;                              // a CPU kernel's run
  const PluginFamily::StoredType* stored = nullptr;  // a family's build

  // Keeps a T until the call is over.
  template <typename T>
  const T& keep(T value) {
    const auto kept = std::make_shared<const T>(std::move(value));
    kept_.push_back(kept);
    return *kept;
  }

 private:
  std::deque<std::shared_ptr<const void>> kept_;
};

headrace_status status_of(ErrorCode code);
ErrorCode code_of(headrace_status status);

// What a host function does: an exception becomes the context's message and a status, for none may cross into the plugin.
template <typename Body>
headrace_status answer(headrace_context* context, Body&& body) noexcept {
  CallContext& c = CallContext::of(context);
  try {
    body(c);
    return HEADRACE_OK;
  } catch (const Error& e) {
    c.message = e.what();
    return status_of(e.code);
  } catch (const std::bad_alloc&) {
    c.message = "out of memory";
    return HEADRACE_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    c.message = e.what();
    return HEADRACE_INTERNAL;
  }
}

// Calls into the plugin: `body` gets the context and returns the callback's status. A failure, and an exception that leaves the callback
// although none may, comes out as an Error that names the plugin and `what`.
template <typename Body>
void call_plugin(const PluginLibrary& plugin, std::string_view what, CallContext& context, Body&& body) {
  headrace_status status = HEADRACE_OK;
  try {
    status = body(&context);
  } catch (const std::exception& e) {
    fail(ErrorCode::kInternal, "{}: {}: an exception left a callback, which must return a status instead: {}", plugin.describe(), what,
         printable(e.what(), 500));
  } catch (...) {
    fail(ErrorCode::kInternal, "{}: {}: an exception left a callback, which must return a status instead", plugin.describe(), what);
  }
  if (context.interrupted) std::rethrow_exception(context.interrupted);
  if (status != HEADRACE_OK)
    fail(code_of(status), "{}: {}: {}", plugin.describe(), what,
         context.message.empty() ? fmt::format("failed with status {}, and does not say why", status) : printable(context.message, 2000));
}

}  // namespace headrace
