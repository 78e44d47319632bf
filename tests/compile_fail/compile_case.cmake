# Compiles CASE with -DCORRECTED, which must pass, and without, which must fail with the error that
# its line "// error: REGEX" names. Needs COMPILER CASE INCLUDES.
string(REPLACE "," ";" includes "${INCLUDES}")
set(command ${COMPILER} -std=c++20 -fsyntax-only -Werror=unused-result ${includes} ${CASE})

execute_process(COMMAND ${command} -DCORRECTED RESULT_VARIABLE result ERROR_VARIABLE errors)
if(result)
  message(FATAL_ERROR "the corrected case does not compile:\n${errors}")
endif()

file(STRINGS ${CASE} expected REGEX "^// error: ")
string(REPLACE "// error: " "" expected "${expected}")
if(expected STREQUAL "")
  message(FATAL_ERROR "${CASE} names no error")
endif()
execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(result EQUAL 0)
  message(FATAL_ERROR "the case compiles, but must not")
endif()
if(NOT errors MATCHES "${expected}")
  message(FATAL_ERROR "failed for another reason than '${expected}':\n${errors}")
endif()
