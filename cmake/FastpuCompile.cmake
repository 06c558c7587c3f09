# How fastpu is compiled: reproducible arithmetic everywhere, warnings, sanitizers and instruction-set levels.
include(CheckCXXSourceCompiles)

# The same bits on every instruction-set level: a compiler may not fuse a*b+c on its own, and nothing is reordered.
# (MSVC's default /fp:precise does not fuse either.)
if(NOT MSVC)
  add_compile_options(-ffp-contract=off)
else()
  add_compile_options(/utf-8 /EHsc)
  add_compile_definitions(_USE_MATH_DEFINES NOMINMAX)
endif()

if(FASTPU_ASSERTS)
  if(MSVC)
    add_compile_options(/UNDEBUG)
  else()
    add_compile_options(-UNDEBUG -D_GLIBCXX_ASSERTIONS)
  endif()
endif()

# Warnings of our own C++ (not of generated or third-party code).
add_library(fastpu_warnings INTERFACE)
if(MSVC)
  target_compile_options(fastpu_warnings INTERFACE /W4 $<$<BOOL:${FASTPU_WERROR}>:/WX>)
else()
  target_compile_options(
    fastpu_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
                              $<$<BOOL:${FASTPU_WERROR}>:-Werror>)
endif()

if(FASTPU_SANITIZE STREQUAL "address")
  set(sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(FASTPU_SANITIZE STREQUAL "thread")
  set(sanitize_flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(FASTPU_SANITIZE)
  message(FATAL_ERROR "FASTPU_SANITIZE must be 'address', 'thread' or empty, got '${FASTPU_SANITIZE}'")
endif()
if(FASTPU_SANITIZE)
  # -O1: with more, gcc takes minutes over instrumented bindings; reports stay readable.
  add_compile_options(${sanitize_flags} -O1 -g1)
  add_link_options(${sanitize_flags})
endif()

# fastpu_count_edges(): everything from here on tells libFuzzer which edges it takes.
macro(fastpu_count_edges)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Comparisons of numbers are in every inner loop: to tell them to libFuzzer takes half of the time.
    add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
  else()
    # Made before the option, so that it does not count itself.
    add_library(fastpu_gcc_coverage OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/cpp/fuzz/gcc_coverage.cpp)
    target_compile_options(fastpu_gcc_coverage PRIVATE -O2 -fno-sanitize=all)
    add_compile_options(-fsanitize-coverage=trace-pc,trace-cmp)
  endif()
endmacro()
if(FASTPU_COVERAGE)
  # -O1: with more, lines melt into each other. Threads count the same lines at the same time.
  add_compile_options(--coverage -fprofile-update=atomic -O1 -g1)
  add_link_options(--coverage)
endif()

# A build for two architectures at once (macOS universal2) fails this check and gets the baseline, which is right.
check_cxx_source_compiles(
  "#if !defined(__x86_64__) && !defined(_M_X64)\n#error not x86-64\n#endif\nint main() { return 0; }" FASTPU_IS_X86_64)

# fastpu_add_kernels(target): the files of FASTPU_KERNEL_SOURCES, compiled for every level with its flags.
# They hold no inline function of a shared header that another file also instantiates: the linker might keep the copy
# that needs AVX for everybody. Those of FASTPU_FUSED_SOURCES may fuse multiply-adds.
function(fastpu_add_kernels target)
  if(MSVC)
    set(avx2 /arch:AVX2)
    set(avx512 /arch:AVX512)
  else()
    set(avx2 -mavx2 -mfma -mbmi -mbmi2 -mpopcnt -mlzcnt)
    set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)
    set_property(SOURCE ${FASTPU_FUSED_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=fast)
  endif()
  set(levels baseline)
  if(FASTPU_IS_X86_64)
    list(APPEND levels avx2 avx512)
    target_compile_definitions(${target} PUBLIC FASTPU_X86_LEVELS=1)
  endif()
  foreach(level IN LISTS levels)
    set(kernels ${target}_${level})
    add_library(${kernels} OBJECT ${FASTPU_KERNEL_SOURCES})
    set_target_properties(${kernels} PROPERTIES UNITY_BUILD OFF) # each file has names of its own
    target_compile_definitions(
      ${kernels} PRIVATE FASTPU_LEVEL=${level} $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(${kernels} PRIVATE ${${level}})
    target_include_directories(${kernels} PRIVATE cpp/include cpp/src)
    target_link_libraries(${kernels} PRIVATE fastpu_warnings)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
endfunction()
