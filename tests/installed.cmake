# For scripts that test what is installed: an empty folder SCRATCH, with what BUILD installs in SCRATCH/prefix, and two functions.
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

# run(COMMAND...): its output in `out`; stops the test when it fails.
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nended with ${code}\n${output}${errors}")
  endif()
  set(out "${output}" PARENT_SCOPE)
endfunction()
function(expect_match regex)
  if(NOT out MATCHES "${regex}")
    message(FATAL_ERROR "wanted: ${regex}\nfound: ${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
