// The filters, a table per subject.
#pragma once

#include <span>

#include "jinja/objects.h"

namespace headrace::jinja {

// The function of {{ value | NAME }}; nullptr when there is none of that name.
NativeFunction find_filter(std::string_view name);

std::span<const NativeEntry> text_filters();
std::span<const NativeEntry> layout_filters();
std::span<const NativeEntry> html_filters();
std::span<const NativeEntry> number_filters();
std::span<const NativeEntry> sequence_filters();
std::span<const NativeEntry> order_filters();
std::span<const NativeEntry> select_filters();
std::span<const NativeEntry> json_filters();

}  // namespace headrace::jinja
