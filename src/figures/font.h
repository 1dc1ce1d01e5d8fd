/* The fonts of exported figures (DejaVu Sans) and of pictures of the screen (DejaVu Sans Mono), inside the program: they come out the same on a
 * machine without fonts. */
#ifndef FIGURES_FONT_H
#define FIGURES_FONT_H

#include <stddef.h>

extern const unsigned char font_data[]; /* a TrueType file */
size_t font_size(void);

extern const unsigned char font_mono_data[];
size_t font_mono_size(void);

#endif
