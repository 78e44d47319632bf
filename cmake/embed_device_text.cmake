# Writes OUTPUT, a C++ table of the device texts under ROOT that FILES (a list of paths from there)
# names. Literals are cut at 8 KiB, which every compiler takes.
set(table "")
set(index 0)
string(REPLACE "|" ";" files "${FILES}")
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} text)
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8192 piece)
    string(APPEND literals "\n    R\"~~~(${piece})~~~\"")
    math(EXPR at "${at} + 8192")
  endwhile()
  string(APPEND table "    {\"${file}\",${literals}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from the device texts.
#include \"jit/device_text.h\"

namespace convoy {
namespace {

constexpr DeviceText kTexts[] = {
${table}};

}  // namespace

std::span<const DeviceText> device_texts() {
  return kTexts;
}

}  // namespace convoy
")
