# Device text run on the host, a block's threads as fibers; included by tests/CMakeLists.txt.
find_package(Boost REQUIRED COMPONENTS context)
set(gpu ${PROJECT_SOURCE_DIR}/src/kernel/gpu)

add_library(convoy_emulator STATIC ${gpu}/device/lang_host_test_util.cc)
target_include_directories(convoy_emulator PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(convoy_emulator PUBLIC Boost::context PRIVATE convoy convoy_flags)

# One program per family: its device text judged through the emulator.
function(convoy_gpu_test name)
  convoy_test(gpu_${name}_test ${ARGN})
  target_link_libraries(gpu_${name}_test PRIVATE convoy_emulator convoy_conformance)
endfunction()
convoy_gpu_test(device ${gpu}/device/lang_host_test.cc)
convoy_gpu_test(block_diagonal ${gpu}/block_diagonal/block_diagonal_choice_test.cc
                ${gpu}/block_diagonal/block_diagonal_test.cc)
convoy_gpu_test(general ${gpu}/general/general_test.cc)
convoy_gpu_test(judge ${gpu}/judge/judge_test.cc)
convoy_gpu_test(igemm ${gpu}/igemm/igemm_test.cc)
convoy_gpu_test(igemm_planes ${gpu}/igemm_planes/igemm_planes_test.cc)
convoy_gpu_test(reference ${gpu}/reference/reference_test.cc)
convoy_gpu_test(direct ${gpu}/direct/direct_test.cc)
