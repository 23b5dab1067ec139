#include "plugin/host.h"

#include "core/log.h"
#include "plugin/call_context.h"

namespace headrace {

const headrace_host& plugin_host() {
  static const headrace_host host = [] {
    static const std::string version(headrace::version());
    headrace_host h{.struct_size = sizeof(headrace_host), .abi_version = HEADRACE_PLUGIN_ABI, .headrace_version = version.c_str()};
    h.fail = [](headrace_context* c, headrace_status code, const char* message) {
      CallContext::of(c).message = message ? message : "";
      return code == HEADRACE_OK ? headrace_status{HEADRACE_INTERNAL} : code;
    };
    h.message = [](headrace_context* c) { return CallContext::of(c).message.c_str(); };
    h.log = [](headrace_context*, headrace_log_level level, const char* message) {
      if (level >= HEADRACE_LOG_ERROR && level <= HEADRACE_LOG_DEBUG) log(LogLevel(level), "{}", printable(message, 2000));
    };
    h.barrier = [](headrace_context* c) {
      CallContext& call = CallContext::of(c);
      if (!call.team) return call.host->fail(c, HEADRACE_UNSUPPORTED, "barrier: only a CPU kernel's run has a team of threads");
      try {
        call.team->barrier();
        return headrace_status{HEADRACE_OK};
      } catch (...) {  // another thread has failed; its error is the one to report
        call.interrupted = std::current_exception();
        return call.host->fail(c, HEADRACE_INTERNAL, "barrier: another thread has failed");
      }
    };
    add_dim_functions(h);
    add_attribute_functions(h);
    add_value_functions(h);
    add_graph_functions(h);
    add_register_functions(h);
    return h;
  }();
  return host;
}

}  // namespace headrace
