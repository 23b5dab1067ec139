// Looking into a model: inner values of each run, every kernel beside its reference, where the time goes.
//   example_debug MODEL
#include "headrace/debug.h"

#include <cstdio>

#include "headrace/compile.h"
#include "headrace/llm.h"

using namespace headrace;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: example_debug MODEL\n"), 2;
  const std::string model = argv[1];
  try {
    // What the last norm and each layer return, whatever is fused around them.
    CompileOptions passes{.marks = {"model.norm", "model.layers.?"}};
    const auto show = [](const RunValues& run) {
      for (const RunValues::Value& v : run.outputs)
        std::printf("%s %d: %s %s\n", run.phase.c_str(), int(run.run), v.name.c_str(), v.tensor.sizes.to_string().c_str());
    };
    auto debugger = std::make_shared<Debugger>(DebugOptions{.on_run = show, .check = true, .profile = true});
    LLM llm(model, {.passes = std::make_shared<CompileOptions>(passes), .debugger = debugger});
    llm.generate(Prompt(std::vector<int32_t>{1, 2, 3}), {.max_tokens = 2});

    std::printf("%s\n%s", to_text(debugger->checks()).c_str(), to_text(debugger->profile()).c_str());
    for (const KernelCheck& check : debugger->checks())
      if (!check.fits()) return std::fprintf(stderr, "%s is wrong at %s\n", check.kernel.c_str(), check.value.c_str()), 1;
  } catch (const Error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
