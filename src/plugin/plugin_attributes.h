// Attributes of plugins' ops, whose fields are known only when the plugin is loaded.
#pragma once

#include "headrace/attributes.h"
#include "headrace/plugin.h"

namespace headrace {

// A type with these fields; null for none. It must stay as long as attributes of it are in use. Throws Error(kInvalidArgument) for a name
// that is none or occurs twice, an unknown kind, a default of another kind.
std::shared_ptr<const AttributeType> make_attribute_type(std::span<const headrace_field> fields);

// The text of an attribute, as graphs spell it. Throws Error(kInvalidArgument) for a name that is not there, and for an attribute of a
// plugin's op that was declared as another kind; kind 0: any.
std::string attribute_text(const Attributes& attributes, const std::string& name, headrace_field_kind kind);

// What names of ops, attributes, passes and so on may be: letters, digits, '_', '-' and '.', a letter first.
void check_plugin_name(const char* name, std::string_view what);

}  // namespace headrace
