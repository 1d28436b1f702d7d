# How every Headrace library and tool is compiled and linked: one precompiled header for all of them (MLIR's headers cost
# some 30 s a file otherwise), and LLVM as two shared objects (developer build) or as static archives (shipped build).

find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header is only cacheable if its time stamp and its macros may be ignored.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

add_library(headrace_flags INTERFACE)
target_include_directories(headrace_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_include_directories(headrace_flags SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(headrace_flags INTERFACE ${llvm_definitions})
target_compile_options(headrace_flags INTERFACE
  -fno-exceptions -Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # -fno-pch-timestamp lets ccache reuse objects whose precompiled header was built again from the same text.
  target_compile_options(headrace_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp" -fpch-instantiate-templates)
endif()
if(HEADRACE_WERROR)
  target_compile_options(headrace_flags INTERFACE -Werror)
endif()
if(HEADRACE_SANITIZE)
  target_compile_options(headrace_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(headrace_flags INTERFACE -fsanitize=address,undefined)
endif()

# The target whose precompiled header all others reuse.
add_library(headrace_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(headrace_pch PRIVATE headrace_flags)
target_precompile_headers(headrace_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# Compiles a program with the precompiled header.
function(headrace_reuse_pch name)
  target_precompile_headers(${name} REUSE_FROM headrace_pch)
  if(CMAKE_POSITION_INDEPENDENT_CODE)
    # As the header is compiled: CMake would choose -fPIE for a program.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()

# headrace_library(NAME sources... [DEPENDS tablegen-targets...] [LINK headrace-libraries...] [NO_MLIR])
#   NO_MLIR: a library that includes no MLIR header and so needs no precompiled one.
function(headrace_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC headrace_flags ${ARG_LINK})
  if(NOT ARG_NO_MLIR)
    target_precompile_headers(${name} REUSE_FROM headrace_pch)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# headrace_tool(NAME sources... [LINK libraries...] [STATIC_LINK extra static MLIR/LLVM archives...])
function(headrace_tool name)
  cmake_parse_arguments(ARG "" "" "LINK;STATIC_LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  headrace_reuse_pch(${name})
  target_link_libraries(${name} PRIVATE headrace_flags ${ARG_LINK})
  headrace_link_llvm(${name} ${ARG_STATIC_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# Links LLVM and MLIR into a program or a module: shared objects by default, archives under HEADRACE_STATIC.
function(headrace_link_llvm name)
  if(HEADRACE_STATIC)
    # Every archive, in one group; section garbage collection keeps what is reached.
    file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
    list(FILTER archives EXCLUDE REGEX "libMLIR(CAPI|Lsp|.*Test|Runner|.*ExecutionEngine|JitRunner|Tblgen|.*Opt|SPIRV|ROCM|XeVM)[^/]*\\.a$")
    # What else a tool names, by file too: LLVM's imported targets would bring libLLVM.so.
    foreach(library ${ARGN})
      if(NOT library MATCHES "\\.a$")
        set(library ${LLVM_LIBRARY_DIR}/lib${library}.a)
      endif()
      list(PREPEND archives ${library})
    endforeach()
    target_link_libraries(${name} PRIVATE -Wl,--start-group ${archives} -Wl,--end-group -l:libzstd.a -l:libz.a m)
    target_link_options(${name} PRIVATE -Wl,--gc-sections -static-libstdc++ -static-libgcc -s)
    get_target_property(type ${name} TYPE)
    if(type STREQUAL EXECUTABLE)
      # Otherwise relocating tables of functions costs a start some milliseconds.
      target_link_options(${name} PRIVATE -no-pie)
    endif()
  else()
    target_link_libraries(${name} PRIVATE ${ARGN} MLIR LLVM)
    target_link_directories(${name} PRIVATE ${LLVM_LIBRARY_DIR})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    find_program(LLD NAMES ld.lld-22 ld.lld)
    if(LLD)
      target_link_options(${name} PRIVATE -fuse-ld=${LLD})
    endif()
  endif()
endfunction()
