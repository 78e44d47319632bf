# The CUDA backend over a fake driver: no GPU, no toolkit.
add_library(fake_cuda MODULE ${PROJECT_SOURCE_DIR}/src/launch/cuda/fake_driver_test_util.cc)
target_include_directories(fake_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(fake_cuda PRIVATE convoy_flags)
convoy_room_test(cuda api/device_test.cc launch/cuda/cuda_device_test.cc
                 launch/cuda/cuda_module_test.cc launch/cuda/driver_test.cc
                 launch/cuda/fake_device_test_util.cc)
target_compile_definitions(cuda_test PRIVATE CONVOY_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
add_dependencies(cuda_test fake_cuda)
