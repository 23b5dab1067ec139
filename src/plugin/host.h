// The table of functions that plugins may call, filled group by group.
#pragma once

#include "headrace/plugin.h"

namespace headrace {

void add_dim_functions(headrace_host& host);        // host_dims.cpp
void add_attribute_functions(headrace_host& host);  // host_attributes.cpp
void add_value_functions(headrace_host& host);      // host_values.cpp: nodes, too
void add_graph_functions(headrace_host& host);      // host_graph.cpp
void add_register_functions(headrace_host& host);   // registrar.cpp

}  // namespace headrace
