/* Plugins: shared libraries that give Headrace ops, kernels, passes, model families, weight formats and logits processors.
 *
 * A plain C interface, so that a plugin and Headrace need not come from the same compiler. A plugin links nothing of Headrace's: all that
 * it may call is in the table headrace_host, which it reaches through the context that every call into it gets. It exports two functions,
 * headrace_plugin_abi_version and headrace_plugin_init (at the end of this file). plugin.hpp makes plugins in C++ shorter; it stands on
 * this file alone. docs/writing-plugins.md is the guide.
 *
 * Rules that hold everywhere:
 *   status     What can fail returns a headrace_status. Who fails says why with host->fail(context, code, message); a host function that
 *              fails has said so already, and the plugin hands its status on (or goes on: the next failure replaces the message).
 *   memory     What Headrace hands to a plugin (structs, strings, arrays, dims) belongs to Headrace and is valid until the callback
 *              returns, unless it is said to live longer. What a plugin hands to Headrace is copied before the host function returns,
 *              except for functions and `user`, which stay in use until free_user is called. free_user is called exactly once, also when
 *              registering failed (but not for a struct that is too small to be read).
 *   threads    Callbacks of different contexts may run at the same time. A context belongs to one call on one thread.
 *   exceptions None may leave a callback. One that does is caught where the platform permits, and reported as an error of the plugin.
 *   sizes      A struct that may grow begins with struct_size, which its maker sets to sizeof. Fields are only ever added at the end: a
 *              field beyond struct_size is not there. headrace_type, headrace_tensor, headrace_field and headrace_attribute stand in arrays
 *              and never grow.
 *   trust      A plugin runs inside the process and can do what the process can. Handles are not checked beyond what is said here. */
#ifndef HEADRACE_PLUGIN_H
#define HEADRACE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* Grows when something changes that plugins built before cannot know. What is only added leaves it as it is. */
#define HEADRACE_PLUGIN_ABI 1u

#define HEADRACE_MAX_RANK 8

#if defined(_WIN32)
#define HEADRACE_PLUGIN_EXPORT __declspec(dllexport)
#else
#define HEADRACE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------------ values */

typedef int32_t headrace_status;
enum {
  HEADRACE_OK = 0,
  HEADRACE_INVALID_ARGUMENT = 1,
  HEADRACE_NOT_FOUND = 2,
  HEADRACE_UNSUPPORTED = 3,
  HEADRACE_OUT_OF_MEMORY = 4,
  HEADRACE_INTERNAL = 5
};

/* Element types. The block types from 32 on are GGUF's: a block of consecutive elements of a row shares its scales. */
typedef int32_t headrace_dtype;
enum {
  HEADRACE_AS_STORED = 0, /* host->parameter: the type that the checkpoint has */
  HEADRACE_F32 = 1,
  HEADRACE_F16 = 2,
  HEADRACE_BF16 = 3,
  HEADRACE_I64 = 4,
  HEADRACE_I32 = 5,
  HEADRACE_I8 = 6,
  HEADRACE_U8 = 7,
  HEADRACE_BOOL = 8,
  HEADRACE_Q8_0 = 32,
  HEADRACE_Q4_0 = 33,
  HEADRACE_Q4_1 = 34,
  HEADRACE_Q5_0 = 35,
  HEADRACE_Q5_1 = 36,
  HEADRACE_Q2_K = 37,
  HEADRACE_Q3_K = 38,
  HEADRACE_Q4_K = 39,
  HEADRACE_Q5_K = 40,
  HEADRACE_Q6_K = 41,
  HEADRACE_IQ4_NL = 42
};

typedef int32_t headrace_device;
enum { HEADRACE_CPU = 1, HEADRACE_CUDA = 2 };

typedef int32_t headrace_log_level;
enum { HEADRACE_LOG_ERROR = 0, HEADRACE_LOG_WARNING = 1, HEADRACE_LOG_INFO = 2, HEADRACE_LOG_DEBUG = 3 };

/* Where a value without a producer comes from. */
typedef int32_t headrace_leaf;
enum { HEADRACE_NO_LEAF = 0, HEADRACE_INPUT = 1, HEADRACE_PARAMETER = 2, HEADRACE_STATE = 3, HEADRACE_CONSTANT = 4 };

typedef struct headrace_host headrace_host;
typedef struct headrace_registrar headrace_registrar;   /* takes what a plugin contributes */
typedef struct headrace_dim headrace_dim;               /* a size: a polynomial over named symbols, "4*tokens+1" */
typedef struct headrace_attributes headrace_attributes; /* of a node */
typedef struct headrace_graph headrace_graph;
typedef struct headrace_node headrace_node;   /* valid until it is erased */
typedef struct headrace_value headrace_value; /* valid until its node is erased */

/* One call from Headrace into the plugin: the way to the host's functions, the place of the call's error, and the owner of what the host
 * hands out during the call. */
typedef struct headrace_context {
  const headrace_host* host;
} headrace_context;

typedef struct headrace_type {
  headrace_dtype dtype;
  uint32_t rank;
  const headrace_dim* dims[HEADRACE_MAX_RANK]; /* outermost first */
} headrace_type;

/* A view of memory. Strides count elements. */
typedef struct headrace_tensor {
  void* data;
  headrace_dtype dtype;
  uint32_t rank;
  int64_t sizes[HEADRACE_MAX_RANK];
  int64_t strides[HEADRACE_MAX_RANK];
} headrace_tensor;

/* What kind of value an attribute holds. */
typedef int32_t headrace_field_kind;
enum {
  HEADRACE_FIELD_BOOL = 1,
  HEADRACE_FIELD_INT = 2,
  HEADRACE_FIELD_FLOAT = 3,
  HEADRACE_FIELD_STRING = 4,
  HEADRACE_FIELD_INTS = 5,
  HEADRACE_FIELD_FLOATS = 6,
  HEADRACE_FIELD_DTYPE = 7
};

/* An attribute that an op declares. `initial` is its default, as text (see headrace_attribute). */
typedef struct headrace_field {
  const char* name;
  headrace_field_kind kind;
  const char* initial;
} headrace_field;

/* An attribute with its value as graphs spell it: true, 42, 1e-05, "text" in double quotes, [1, 2], bf16. */
typedef struct headrace_attribute {
  const char* name;
  const char* text;
} headrace_attribute;

/* ------------------------------------------------------------------------------------------------------------------ ops */

/* An op applied to operands: what shape rules, references and kernels look at. */
typedef struct headrace_call {
  size_t struct_size;
  const char* op;
  const headrace_attributes* attributes;
  const headrace_type* inputs;
  uint32_t num_inputs;
  const headrace_type* outputs; /* null in the shape rule */
  uint32_t num_outputs;
} headrace_call;

enum {
  HEADRACE_OP_ROW_WISE = 1u,   /* row i (axis 0) of the one output depends on row i alone of the operands that have as many rows */
  HEADRACE_OP_COMMUTATIVE = 2u /* of its two operands, in any order */
};

typedef struct headrace_op {
  size_t struct_size;
  const char* name;
  const headrace_field* fields;
  uint32_t num_fields;
  uint32_t min_inputs, max_inputs;
  uint32_t num_outputs;
  uint32_t flags;
  void* user;
  void (*free_user)(void* user); /* may be null */
  /* The shape rule: fills outputs[0 .. num_outputs). Fails when the operands do not fit; say what is wanted, the op and its operands are
   * named by Headrace. The same operands must always give the same result. */
  headrace_status (*infer)(headrace_context*, void* user, const headrace_call*, headrace_type* outputs);
  /* The meaning, slow and obvious: reads contiguous host memory and fills `outputs`, which are allocated and zero. Needed unless the op has
   * a decomposition. */
  headrace_status (*reference)(headrace_context*, void* user, const headrace_call*, const headrace_tensor* inputs,
                               const headrace_tensor* outputs);
  /* The op spelt in plainer ops, emitted into `graph`: fills outputs[0 .. num_outputs). It runs where the op has no kernel. May be null. */
  headrace_status (*decompose)(headrace_context*, void* user, const headrace_call*, headrace_graph* graph, headrace_value* const* inputs,
                               headrace_value** outputs);
} headrace_op;

/* ------------------------------------------------------------------------------------------------------------------ kernels */

/* One node for which a kernel is wanted. */
typedef struct headrace_kernel_request {
  size_t struct_size;
  headrace_call call;               /* sizes may be symbols */
  const headrace_tensor* constants; /* one for each operand: its bytes in host memory when they are known now, else data is null */
  int32_t exact;                    /* not 0: products in fp32 are asked for, whatever the speed */
  int32_t device_number;            /* of the CUDA device */
} headrace_kernel_request;

/* One run. All threads of a CPU's team call run with the same launch but for `thread`; on CUDA one thread calls it, which enqueues work on
 * `stream` and does not wait for it. */
typedef struct headrace_launch {
  size_t struct_size;
  const headrace_tensor* inputs;
  uint32_t num_inputs;
  const headrace_tensor* outputs; /* contiguous */
  uint32_t num_outputs;
  void* workspace; /* of the device, 64-byte aligned, of the size that was asked for; what is in it is undefined */
  int32_t thread, num_threads;
  void* stream; /* CUDA: the CUstream; else null */
} headrace_launch;

enum {
  HEADRACE_KERNEL_ANY_STRIDES = 1u,    /* CPU: operands may have any strides; without it they are made contiguous first. CUDA: always any */
  HEADRACE_KERNEL_KEEPS_CONSTANTS = 2u /* make has packed what is known; operands known then come without data, and their memory is freed */
};

typedef struct headrace_kernel {
  size_t struct_size;
  const char* op;   /* a plugin's or one of Headrace's own */
  const char* name; /* the strategy, for people: "rows_per_warp" */
  headrace_device device;
  uint32_t flags;
  void* user;
  void (*free_user)(void* user); /* may be null */
  /* Whether it can do this node: *answer is 0 or 1. Null: it can do all that the op accepts. A plugin's kernels are asked before Headrace's
   * own, those registered first before the others. */
  headrace_status (*supports)(headrace_context*, void* user, const headrace_kernel_request*, int32_t* answer);
  /* Makes what all runs of one node share: packed weights, a loaded module. Null: state is null. */
  headrace_status (*make)(headrace_context*, void* user, const headrace_kernel_request*, void** state);
  void (*destroy)(void* user, void* state); /* null only when make is */
  /* Bytes of scratch memory for operands of these sizes, whose data and thread mean nothing. Null: none. */
  headrace_status (*workspace_bytes)(headrace_context*, void* user, void* state, const headrace_launch* sizes, size_t* bytes);
  headrace_status (*run)(headrace_context*, void* user, void* state, const headrace_launch*);
} headrace_kernel;

/* ------------------------------------------------------------------------------------------------------------------ passes */

typedef struct headrace_pass {
  size_t struct_size;
  const char* name;
  const char* before; /* a pass of Headrace's, or a plugin's registered earlier; null when `after` says where */
  const char* after;
  void* user;
  void (*free_user)(void* user); /* may be null */
  /* Rewrites the graph; its meaning, inputs and marked outputs stay. The graph is verified afterwards. */
  headrace_status (*run)(headrace_context*, void* user, headrace_graph*);
} headrace_pass;

/* ------------------------------------------------------------------------------------------------------------------ models */

/* Filled by a model family. */
typedef struct headrace_model_info {
  size_t struct_size;
  int32_t is_encoder;    /* 0: a decoder, with the output "logits"; 1: an encoder, with "last_hidden_state" */
  int64_t vocab_size;    /* rows of logits */
  int64_t max_positions; /* the longest context that the model was made for */
} headrace_model_info;

typedef struct headrace_family {
  size_t struct_size;
  const char* model_type; /* as config.json names it. A built-in family of the same name is hidden */
  void* user;
  void (*free_user)(void* user); /* may be null */
  /* Emits the model into `graph`: parameters by their names in the checkpoint (host->parameter), tokens packed, outputs marked. */
  headrace_status (*build)(headrace_context*, void* user, headrace_graph*, const char* config_json, headrace_model_info* info);
} headrace_family;

/* A tensor of a file. */
typedef struct headrace_stored_tensor {
  size_t struct_size;
  const char* name; /* as Hugging Face's class for the model names it; valid while the file is open */
  headrace_dtype dtype;
  uint32_t rank;
  int64_t sizes[HEADRACE_MAX_RANK];
} headrace_stored_tensor;

/* A file, or a folder, with a model in a format of the plugin's. Functions on an open file may be called from several threads at once. */
typedef struct headrace_format {
  size_t struct_size;
  const char* name;
  void* user;
  void (*free_user)(void* user); /* may be null */
  /* Whether `path`, which exists, is of this format: *answer is 0 or 1. Asked before Headrace looks itself. */
  headrace_status (*probe)(headrace_context*, void* user, const char* path, int32_t* answer);
  headrace_status (*open)(headrace_context*, void* user, const char* path, void** file);
  void (*close)(void* user, void* file);
  /* Of config.json's kind, with model_type. The text is valid while the file is open. */
  headrace_status (*config)(headrace_context*, void* user, void* file, const char** json);
  headrace_status (*count)(headrace_context*, void* user, void* file, size_t* num_tensors);
  headrace_status (*describe)(headrace_context*, void* user, void* file, size_t index, headrace_stored_tensor* tensor);
  /* Fills `bytes` bytes at `to`, as many as the tensor's type and sizes come to, contiguous. */
  headrace_status (*read)(headrace_context*, void* user, void* file, size_t index, void* to, size_t bytes);
} headrace_format;

/* ------------------------------------------------------------------------------------------------------------------ sampling */

/* One row of logits, before temperature, top-k and so on, after penalties and bias. */
typedef struct headrace_logits {
  size_t struct_size;
  const int32_t* tokens; /* prompt and output so far */
  size_t num_tokens, num_prompt;
  float* logits; /* to be changed; -infinity forbids a token. Neither NaN nor +infinity */
  size_t vocab_size;
} headrace_logits;

typedef struct headrace_logits_processor {
  size_t struct_size;
  const char* name; /* requests choose it by */
  void* user;
  void (*free_user)(void* user); /* may be null */
  /* For one request. A failure refuses the request. Null: state is null, and options must be empty. */
  headrace_status (*make)(headrace_context*, void* user, const char* options_json, size_t vocab_size, void** state);
  void (*destroy)(void* user, void* state); /* null only when make is */
  /* Before each token of the request. What it does should depend on its arguments and options alone: then a request's result does not
   * depend on what else runs. A failure ends the request, and no other. */
  headrace_status (*process)(headrace_context*, void* user, void* state, const headrace_logits*);
} headrace_logits_processor;

/* ------------------------------------------------------------------------------------------------------------------ the host */

/* What a plugin may call. Arguments named `to` and `num` are where results go. */
struct headrace_host {
  size_t struct_size;
  uint32_t abi_version;
  const char* headrace_version;

  /* Errors and log. fail returns `code`, so that `return host->fail(...)` says it all. message is that of the last failure, or "". */
  headrace_status (*fail)(headrace_context*, headrace_status code, const char* message);
  const char* (*message)(headrace_context*);
  void (*log)(headrace_context*, headrace_log_level, const char* message);

  /* Registering, during headrace_plugin_init. describe: the plugin's name, which engines that need it will mention (without it, the file's
   * name), and its version. The others fail for a name that is taken and for a struct that lacks something. */
  headrace_status (*describe)(headrace_context*, headrace_registrar*, const char* name, const char* version);
  headrace_status (*register_op)(headrace_context*, headrace_registrar*, const headrace_op*);
  headrace_status (*register_kernel)(headrace_context*, headrace_registrar*, const headrace_kernel*);
  headrace_status (*register_pass)(headrace_context*, headrace_registrar*, const headrace_pass*);
  headrace_status (*register_family)(headrace_context*, headrace_registrar*, const headrace_family*);
  headrace_status (*register_format)(headrace_context*, headrace_registrar*, const headrace_format*);
  headrace_status (*register_logits_processor)(headrace_context*, headrace_registrar*, const headrace_logits_processor*);

  /* Sizes. divide fails when there is no exact quotient, value when the size is not a number. */
  headrace_status (*dim_number)(headrace_context*, int64_t, const headrace_dim** to);
  headrace_status (*dim_parse)(headrace_context*, const char* text, const headrace_dim** to);
  headrace_status (*dim_add)(headrace_context*, const headrace_dim*, const headrace_dim*, const headrace_dim** to);
  headrace_status (*dim_subtract)(headrace_context*, const headrace_dim*, const headrace_dim*, const headrace_dim** to);
  headrace_status (*dim_multiply)(headrace_context*, const headrace_dim*, const headrace_dim*, const headrace_dim** to);
  headrace_status (*dim_divide)(headrace_context*, const headrace_dim*, const headrace_dim*, const headrace_dim** to);
  headrace_status (*dim_value)(headrace_context*, const headrace_dim*, int64_t* to);
  int32_t (*dim_is_number)(headrace_context*, const headrace_dim*);
  int32_t (*dim_equal)(headrace_context*, const headrace_dim*, const headrace_dim*);
  headrace_status (*dim_text)(headrace_context*, const headrace_dim*, const char** to);

  /* Attributes, by name. They fail for a name that the op does not have, and for a value of another kind. text is as graphs spell it. */
  headrace_status (*attribute_bool)(headrace_context*, const headrace_attributes*, const char* name, int32_t* to);
  headrace_status (*attribute_int)(headrace_context*, const headrace_attributes*, const char* name, int64_t* to);
  headrace_status (*attribute_float)(headrace_context*, const headrace_attributes*, const char* name, double* to);
  headrace_status (*attribute_string)(headrace_context*, const headrace_attributes*, const char* name, const char** to);
  headrace_status (*attribute_ints)(headrace_context*, const headrace_attributes*, const char* name, const int64_t** to, size_t* num);
  headrace_status (*attribute_floats)(headrace_context*, const headrace_attributes*, const char* name, const float** to, size_t* num);
  headrace_status (*attribute_dtype)(headrace_context*, const headrace_attributes*, const char* name, headrace_dtype* to);
  headrace_status (*attribute_text)(headrace_context*, const headrace_attributes*, const char* name, const char** to);

  /* Nodes and values. Nothing here can fail, but an index beyond the end gives null. Names live until the value goes. */
  const char* (*node_op)(headrace_context*, const headrace_node*);
  const headrace_attributes* (*node_attributes)(headrace_context*, const headrace_node*);
  uint32_t (*node_num_inputs)(headrace_context*, const headrace_node*);
  uint32_t (*node_num_outputs)(headrace_context*, const headrace_node*);
  headrace_value* (*node_input)(headrace_context*, const headrace_node*, uint32_t index);
  headrace_value* (*node_output)(headrace_context*, const headrace_node*, uint32_t index);
  const char* (*value_name)(headrace_context*, const headrace_value*);
  headrace_leaf (*value_leaf)(headrace_context*, const headrace_value*);
  headrace_node* (*value_producer)(headrace_context*, const headrace_value*); /* null for leaves */
  int32_t (*value_is_output)(headrace_context*, const headrace_value*);
  int32_t (*value_is_known)(headrace_context*, const headrace_value*); /* before the program runs: made of parameters and constants alone */
  /* The type's dims are valid until the callback returns, or the value's node is erased. */
  headrace_status (*value_type)(headrace_context*, const headrace_value*, headrace_type* to);
  /* The nodes that read it, once for each operand that is this value. */
  headrace_status (*value_users)(headrace_context*, const headrace_value*, headrace_node* const** to, size_t* num);
  /* Of a HEADRACE_CONSTANT. */
  headrace_status (*value_constant)(headrace_context*, const headrace_value*, headrace_tensor* to);

  /* Graphs: looking. nodes is in order, and a copy: it stays as it is while the graph changes. find gives null when there is no such leaf.
   */
  headrace_status (*graph_nodes)(headrace_context*, headrace_graph*, headrace_node* const** to, size_t* num);
  headrace_status (*graph_find)(headrace_context*, headrace_graph*, headrace_leaf, const char* name, headrace_value** to);
  headrace_status (*graph_num_outputs)(headrace_context*, headrace_graph*, size_t* to);
  headrace_status (*graph_output)(headrace_context*, headrace_graph*, size_t index, const char** name, headrace_value** to);
  headrace_status (*graph_text)(headrace_context*, headrace_graph*, const char** to);

  /* Graphs: adding. Nodes are added at the insertion point, which is the end unless insert_before has named a node (null: the end again).
   * emit fails when the op does not accept the operands. An input, parameter or state that is there already is returned. */
  headrace_status (*graph_insert_before)(headrace_context*, headrace_graph*, headrace_node*);
  headrace_status (*graph_emit)(headrace_context*, headrace_graph*, const char* op, const headrace_attribute* attributes,
                                size_t num_attributes, headrace_value* const* inputs, size_t num_inputs, headrace_value* const** to,
                                size_t* num);
  headrace_status (*graph_leaf)(headrace_context*, headrace_graph*, headrace_leaf, const char* name, const headrace_type*,
                                headrace_value** to);
  headrace_status (*graph_constant)(headrace_context*, headrace_graph*, const headrace_tensor* contiguous, headrace_value** to);
  headrace_status (*graph_mark_output)(headrace_context*, headrace_graph*, headrace_value*, const char* name);

  /* Graphs: changing. replace_uses wants equal types, and changes marked outputs, too. erase fails while a result is in use. remove_dead
   * erases every node that nothing depends on. */
  headrace_status (*graph_replace_uses)(headrace_context*, headrace_graph*, headrace_value* from, headrace_value* by);
  headrace_status (*graph_set_input)(headrace_context*, headrace_graph*, headrace_node*, uint32_t index, headrace_value*);
  headrace_status (*graph_erase)(headrace_context*, headrace_graph*, headrace_node*);
  headrace_status (*graph_remove_dead)(headrace_context*, headrace_graph*);

  /* In a family's build: declares a weight by its name in the checkpoint. HEADRACE_AS_STORED takes the type that is stored there, or F32
   * when it is not there. has_weight: *to is 0 or 1. */
  headrace_status (*parameter)(headrace_context*, headrace_graph*, const char* name, const headrace_type*, headrace_value** to);
  headrace_status (*has_weight)(headrace_context*, const char* name, int32_t* to);

  /* In a CPU kernel's run: waits until every thread of the team is here. Fails when another thread has failed; then return at once. */
  headrace_status (*barrier)(headrace_context*);
};

/* Whether the host has a function that was added after the plugin's oldest supported Headrace: HEADRACE_HAS(host, barrier). */
#define HEADRACE_HAS(host, function) (offsetof(headrace_host, function) + sizeof((host)->function) <= (host)->struct_size)

/* ------------------------------------------------------------------------------------------------------------------ entry points */

/* Exported by the plugin; it returns HEADRACE_PLUGIN_ABI. */
HEADRACE_PLUGIN_EXPORT uint32_t headrace_plugin_abi_version(void);

/* Exported by the plugin. Called once for each load, on one thread; registers what the plugin has. After a failure nothing of the plugin is
 * used. The registrar is valid during this call only. */
HEADRACE_PLUGIN_EXPORT headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar);

#ifdef __cplusplus
}
#endif

#endif
