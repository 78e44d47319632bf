# Installs a build into an empty prefix, builds the consumers against it and compares their output.
# Needs BUILD CONFIG SOURCE WORK GENERATOR COMPILER FLAGS.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --config ${CONFIG})
foreach(file include/convoy/c_api.h include/convoy/convoy.h include/convoy/dtype.inc
        share/convoy/manifest/kernels.yaml)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "the install lacks ${file}")
  endif()
endforeach()

step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
     -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
     -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_C_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=${CONFIG})
step(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
# At the corner 2x2 of the 3x3 taps lie inside the input, in each of the 2 channels of a group.
foreach(program consumer c_consumer)
  step(${WORK}/build/${program})
  if(NOT output STREQUAL "2x12x5x9 8\n")
    message(FATAL_ERROR "${program} printed '${output}', not '2x12x5x9 8'")
  endif()
endforeach()
