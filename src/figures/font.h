/* The font of exported figures, DejaVu Sans, inside the program: figures come out the same on a machine without fonts. */
#ifndef FIGURES_FONT_H
#define FIGURES_FONT_H

#include <stddef.h>

extern const unsigned char font_data[]; /* a TrueType file */
size_t font_size(void);

#endif
