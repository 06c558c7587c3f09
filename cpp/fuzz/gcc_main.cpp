// Hands the program over to libFuzzer, whose library gcc gets without main.
#include <cstddef>
#include <cstdint>

extern "C" {
using OneInput = int (*)(const std::uint8_t* data, std::size_t size);
int LLVMFuzzerRunDriver(int* argc, char*** argv, OneInput one_input);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
}

int main(int argc, char** argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }
