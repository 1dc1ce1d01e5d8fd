#include "figures/font.h"

/* The assembler reads the files named by the Makefile's FONT and FONT_MONO while this is built. */
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".global font_data\n"
        ".global font_data_end\n"
        "font_data:\n"
        ".incbin \"" FONT "\"\n"
        "font_data_end:\n"
        ".byte 0\n"
        ".balign 16\n"
        ".global font_mono_data\n"
        ".global font_mono_data_end\n"
        "font_mono_data:\n"
        ".incbin \"" FONT_MONO "\"\n"
        "font_mono_data_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const unsigned char font_data_end[], font_mono_data_end[];

size_t font_size(void) { return (size_t)(font_data_end - font_data); }
size_t font_mono_size(void) { return (size_t)(font_mono_data_end - font_mono_data); }
