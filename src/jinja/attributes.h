// object.name and object[key], as the immutable sandbox of jinja2 allows them. What is absent is undefined.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// object.name: Python's attribute first, then the item.
Value get_attribute(Runtime& runtime, const Value& object, std::string_view name);
// object[key]: the item first, then Python's attribute.
Value get_item(Runtime& runtime, const Value& object, const Value& key);
// Only Python's attribute: nothing when there is none; undefined when the sandbox forbids it.
std::optional<Value> python_attribute(Runtime& runtime, const Value& object, std::string_view name);
Value call(Runtime& runtime, const Value& callee, CallArguments& arguments);

// The methods of str, dict, list and tuple; nullptr when there is none of that name.
const NativeEntry* find_string_method(std::string_view name);
const NativeEntry* find_dict_method(std::string_view name);
const NativeEntry* find_sequence_method(std::string_view name);

}  // namespace headrace::jinja
