#The jit room, and the table of device texts that it compiles from.
file(GLOB_RECURSE device_texts CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     tensor/*.h base/portable.h kernel/gpu/*.cuh kernel/gpu/*_config.h kernel/gpu/*_args.h
     kernel/gpu/*_index.h kernel/gpu/device/*.h)
list(FILTER device_texts EXCLUDE REGEX "lang_host")
list(JOIN device_texts "|" joined)
set(device_text_cc ${PROJECT_BINARY_DIR}/generated/device_text.cc)
list(TRANSFORM device_texts PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE device_text_paths)
add_custom_command(OUTPUT ${device_text_cc}
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_CURRENT_SOURCE_DIR} "-DFILES=${joined}"
          -DOUTPUT=${device_text_cc} -P ${PROJECT_SOURCE_DIR}/cmake/embed_device_text.cmake
  DEPENDS ${device_text_paths} ${PROJECT_SOURCE_DIR}/cmake/embed_device_text.cmake VERBATIM)
convoy_room(jit jit/build.cc jit/compile.cc jit/disk_cache.cc jit/key.cc jit/nvrtc.cc ${device_text_cc})
target_compile_definitions(convoy_jit PRIVATE XXH_INLINE_ALL)  # nothing to link
