# find_package(convoy): the target convoy::convoy and what it links.
include(CMakeFindDependencyMacro)
find_dependency(TBB)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/convoy_targets.cmake)
