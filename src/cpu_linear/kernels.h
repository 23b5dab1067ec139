// The tables behind kernel_table(): one per instruction set, each in a file and a namespace of its own.
#pragma once

#include "cpu_linear/bf16_code.h"
#include "cpu_linear/kernel_table.h"

namespace headrace::baseline {
const KernelTable& table();
}
namespace headrace::avx2 {
const KernelTable& table();
}
namespace headrace::avx512vnni {
const KernelTable& table();
}
namespace headrace::avx512bf16 {
const KernelTable& table();
}
