# Unit tests of the CPU kernels; included by tests/CMakeLists.txt.
find_package(GTest REQUIRED)
set(cpu ${PROJECT_SOURCE_DIR}/src/kernel/cpu)

add_executable(convoy_cpu_kernel_test
  ${cpu}/kernel_test_util.cc ${cpu}/broadcast/broadcast_test.cc
  ${cpu}/channel_lanes/channel_lanes_test.cc ${cpu}/general/general_test.cc
  ${cpu}/row_lanes/row_lanes_test.cc)
target_include_directories(convoy_cpu_kernel_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(convoy_cpu_kernel_test PRIVATE convoy convoy_flags GTest::gtest_main)
add_test(NAME cpu_kernel COMMAND convoy_cpu_kernel_test)

add_executable(convoy_simd_test ${cpu}/simd/simd_test.cc ${cpu}/simd/simd_checks_baseline.cc)
if(CONVOY_X86_64)
  target_sources(convoy_simd_test PRIVATE ${cpu}/simd/simd_checks_avx2.cc
                 ${cpu}/simd/simd_checks_avx512.cc)
endif()
set_source_files_properties(${cpu}/simd/simd_checks_avx2.cc PROPERTIES COMPILE_OPTIONS
                            "-march=x86-64-v3")
set_source_files_properties(${cpu}/simd/simd_checks_avx512.cc PROPERTIES COMPILE_OPTIONS
                            "-march=x86-64-v4;-mprefer-vector-width=512;-Wno-uninitialized")
target_include_directories(convoy_simd_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(convoy_simd_test PRIVATE convoy convoy_flags GTest::gtest_main)
add_test(NAME simd COMMAND convoy_simd_test)
