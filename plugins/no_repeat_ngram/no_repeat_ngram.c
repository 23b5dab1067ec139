/* A logits processor in plain C: no run of N tokens may come a second time.
 *
 *   options: {"size": N}, N from 1 to 100. With 3, after "a b c ... a b" the token c is forbidden.
 *
 * The N - 1 last tokens are looked for in all that came before; whatever followed them there is forbidden. Prompt and output count alike.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headrace/plugin.h"

typedef struct {
  size_t size;
} no_repeat_ngram;

static headrace_status make(headrace_context* context, void* user, const char* options, size_t vocab_size, void** state) {
  int size = 0, end = 0;
  no_repeat_ngram* made;
  (void)user, (void)vocab_size;
  if (sscanf(options, " { \"size\" : %d } %n", &size, &end) != 1 || end == 0 || options[end] != '\0' || size < 1 || size > 100)
    return context->host->fail(context, HEADRACE_INVALID_ARGUMENT, "options must be {\"size\": N}, N from 1 to 100");
  made = malloc(sizeof *made);
  if (!made) return context->host->fail(context, HEADRACE_OUT_OF_MEMORY, "out of memory");
  made->size = (size_t)size;
  *state = made;
  return HEADRACE_OK;
}

static void destroy(void* user, void* state) {
  (void)user;
  free(state);
}

static headrace_status process(headrace_context* context, void* user, void* state, const headrace_logits* row) {
  const size_t before = ((const no_repeat_ngram*)state)->size - 1; /* tokens that decide */
  const int32_t* last;
  size_t at;
  (void)context, (void)user;
  if (row->num_tokens < before) return HEADRACE_OK;
  last = row->tokens + row->num_tokens - before;
  for (at = 0; at + before < row->num_tokens; ++at) {
    const int32_t next = row->tokens[at + before];
    if (memcmp(row->tokens + at, last, before * sizeof *last) != 0) continue;
    if (next >= 0 && (size_t)next < row->vocab_size) row->logits[next] = -INFINITY;
  }
  return HEADRACE_OK;
}

uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI; }

headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
  const headrace_host* host = context->host;
  headrace_logits_processor processor;
  headrace_status status = host->describe(context, registrar, "no_repeat_ngram", "1.0");
  if (status != HEADRACE_OK) return status;
  memset(&processor, 0, sizeof processor);
  processor.struct_size = sizeof processor;
  processor.name = "no_repeat_ngram";
  processor.make = make;
  processor.destroy = destroy;
  processor.process = process;
  return host->register_logits_processor(context, registrar, &processor);
}
