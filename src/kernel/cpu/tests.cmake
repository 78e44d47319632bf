# Unit tests of the CPU kernels; included by tests/CMakeLists.txt.
find_package(GTest REQUIRED)
set(cpu ${PROJECT_SOURCE_DIR}/src/kernel/cpu)

add_executable(convoy_cpu_kernel_test
  ${cpu}/kernel_test_util.cc ${cpu}/general/general_test.cc ${cpu}/row_lanes/row_lanes_test.cc)
target_include_directories(convoy_cpu_kernel_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(convoy_cpu_kernel_test PRIVATE convoy convoy_flags GTest::gtest_main)
add_test(NAME cpu_kernel COMMAND convoy_cpu_kernel_test)
