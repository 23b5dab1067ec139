// The verbs, each in the file of its name.
#pragma once

#include "cli/options.h"

namespace headrace::cli {

void declare_run(Options& options);
void declare_chat(Options& options);
void declare_build(Options& options);
void declare_refit(Options& options);
void declare_inspect(Options& options);
void declare_tokenize(Options& options);
void declare_render(Options& options);
void declare_eval(Options& options);
void declare_bench(Options& options);
void declare_embed(Options& options);
void declare_doctor(Options& options);

}  // namespace headrace::cli
