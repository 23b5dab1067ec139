# Installs what was built, and uses it as another project does: the examples, found by find_package alone, and a program built with
# pkg-config's flags. They run on models of the project's own, and must say what is known of these.
#   cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -P install_test.cmake
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
run(${SCRATCH}/prefix/bin/headrace --version)
expect_match("^headrace [0-9]")

# Nothing but the prefix is known to this project. No optimization: it is not the examples' speed that is tested.
file(COPY ${SOURCE}/examples/ DESTINATION ${SCRATCH}/examples)
run(${CMAKE_COMMAND} -S ${SCRATCH}/examples -B ${SCRATCH}/build -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror\ -Wno-missing-field-initializers)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target example_executor example_embeddings)

# The tokens that Hugging Face generates, greedily, after the first prompt of the golden model.
set(golden ${SOURCE}/tests/data/golden)
file(READ ${golden}/llama/expected.json expected)
string(JSON ids GET ${expected} prompts 0 ids)
string(JSON greedy GET ${expected} prompts 0 greedy ids)
string(REGEX REPLACE "[][ \n]" "" ids ${ids})
string(REGEX REPLACE "[][ \n]" "" greedy ${greedy})
string(REPLACE "," ";" count "${greedy}")
list(LENGTH count count)
run(${SCRATCH}/build/example_executor ${golden}/llama --prompt-ids ${ids} -n ${count})
string(REPLACE "," " " greedy ${greedy})
expect_match("whole +[0-9]+: ${greedy}  .length.")
run(${SCRATCH}/build/example_embeddings ${golden}/bert)
expect_match("0: [0-9]+ tokens, 48 dimensions; cosines 1.000 ")

# What takes pkg-config instead.
find_program(pkg_config pkg-config REQUIRED)
file(GLOB_RECURSE pc ${SCRATCH}/prefix/headrace.pc)
cmake_path(GET pc PARENT_PATH pc)
set(ENV{PKG_CONFIG_PATH} ${pc})
run(${pkg_config} --cflags --libs headrace)
separate_arguments(flags UNIX_COMMAND "${out}")
file(WRITE ${SCRATCH}/app.cpp [[
#include "headrace/tokenizer.h"
#include <cstdio>
int main(int, char** argv) {
  std::printf("%s", std::string(headrace::version()).c_str());
  for (int id : headrace::load_tokenizer(argv[1])->encode("water", {.add_special = false})) std::printf(" %d", id);
}
]])
run(${COMPILER} -std=c++20 app.cpp ${flags} -o app)
run(./app ${golden}/llama)
file(STRINGS ${SOURCE}/VERSION version LIMIT_COUNT 1)
expect_match("^${version} ${ids}$")
file(REMOVE_RECURSE ${SCRATCH})
