# Plugins as strangers build them: from the installed headers alone, found by find_package. The tests of plugins then use these, and so does the
# installed program.
#   cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -DTESTS=... -P installed_plugins_test.cmake
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
file(COPY ${SOURCE}/plugins DESTINATION ${SCRATCH}/sources)
file(COPY ${SOURCE}/tests/plugins/ DESTINATION ${SCRATCH}/sources/test_plugins)
foreach(project plugins test_plugins)
  run(${CMAKE_COMMAND} -S ${SCRATCH}/sources/${project} -B ${SCRATCH}/build/${project} -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror\ -Wno-missing-field-initializers
    -DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${SCRATCH}/plugins -DHEADRACE_PLUGINS_CUDA=OFF)
endforeach()
run(${CMAKE_COMMAND} --build ${SCRATCH}/build/plugins)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build/test_plugins --target own_model misbehaves)
set(ENV{HEADRACE_TEST_PLUGINS} ${SCRATCH}/plugins)
run(${TESTS} --gtest_brief=1)

set(plugins ${SCRATCH}/plugins)
set(golden ${SOURCE}/tests/data/golden/llama)
run(${SCRATCH}/prefix/bin/headrace build ${golden} -o w8a8.engine --plugin ${plugins}/quantize_tensor.so --plugin ${plugins}/smooth_quant.so)
set(ENV{HEADRACE_PLUGINS} ${plugins}/quantize_tensor.so:${plugins}/smooth_quant.so)
run(${SCRATCH}/prefix/bin/headrace inspect w8a8.engine --json)
expect_match("\"plugins\":.\"quantize_tensor\",\"smooth_quant\".")
run(${SCRATCH}/prefix/bin/headrace run w8a8.engine --prompt-ids 338 -n 4 --plugin ${plugins}/no_repeat_ngram.so
  --logits-processor "no_repeat_ngram={\"size\": 2}")
file(REMOVE_RECURSE ${SCRATCH})
