// Plugins that cannot be loaded, one for each CASE_*.
#include "headrace/plugin.hpp"

using namespace headrace::plugin;

#ifdef CASE_other_abi
extern "C" uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI + 41; }
#else
extern "C" uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI; }
#endif

#ifdef CASE_undefined_symbol
extern "C" void there_is_no_such_function();
#endif

namespace {

[[maybe_unused]] std::vector<Type> same(const Call& call) { return {call.input(0)}; }
[[maybe_unused]] void nothing(const Call&, const Tensors&, const Tensors&) {}
struct NoKernel {
  explicit NoKernel(const KernelRequest&) {}
  void run(const Launch&) const {}
};

[[maybe_unused]] void fill(Registrar& to) {
#if defined(CASE_undefined_symbol)
  there_is_no_such_function();
#elif defined(CASE_refuses)
  throw Error(HEADRACE_UNSUPPORTED, "the moon is not full");
#elif defined(CASE_throws)
  throw std::out_of_range("somewhere inside");
#elif defined(CASE_taken_op)
  to.add(Op{"relu", {}, 1, same, nothing});
#elif defined(CASE_taken_kernel)
  to.add_kernel<NoKernel>({"relu", "mine"});
  to.add_kernel<NoKernel>({"relu", "mine"});
#elif defined(CASE_bad_field)
  to.add(Op{"mine", {{"eps", HEADRACE_FIELD_INT, "0.5"}}, 1, same, nothing});
#elif defined(CASE_lost_kernel)
  to.add_kernel<NoKernel>({"there_is_no_such_op", "mine"});
#endif
  (void)to;
}

}  // namespace

#ifndef CASE_no_init
extern "C" headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
#if defined(CASE_throws_raw)
  (void)context, (void)registrar;
  throw std::runtime_error("nobody caught this");
#elif defined(CASE_no_shape_rule)
  headrace_op op{};
  op.struct_size = sizeof op, op.name = "shapeless", op.min_inputs = op.max_inputs = op.num_outputs = 1;
  return context->host->register_op(context, registrar, &op);
#elif defined(CASE_small_struct)
  headrace_op op{};
  op.struct_size = 8;
  return context->host->register_op(context, registrar, &op);
#else
  return init(context, registrar, fill);
#endif
}
#endif
