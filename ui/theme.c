#include "theme.h"

/* Close to Okabe and Ito's palette within 16 colours: blue and orange-yellow for the two main series stay apart for every kind of colour vision. */
static const struct paint paints[TINT_COUNT] = {
    [TINT_PLAIN] = {-1},
    [TINT_DIM] = {-1, .dim = true},
    [TINT_TITLE] = {-1, .bold = true},
    [TINT_KEY] = {6, .bold = true},
    [TINT_GOOD] = {2},
    [TINT_BAD] = {1, .bold = true},
    [TINT_WARN] = {3},
    [TINT_CHANGED] = {5, .bold = true},
    [TINT_SERIES_1] = {12},
    [TINT_SERIES_2] = {3},
    [TINT_SERIES_3] = {2},
    [TINT_SERIES_4] = {5},
    [TINT_SERIES_5] = {6},
    [TINT_SERIES_6] = {9},
    [TINT_SERIES_7] = {-1, .dim = true},
};

struct paint theme_paint(enum tint tint, int colours)
{
    struct paint paint = (unsigned)tint < TINT_COUNT ? paints[tint] : paints[TINT_PLAIN];
    if (colours < 8) paint.colour = -1;
    else if (colours < 16 && paint.colour >= 8) paint.colour -= 8, paint.bold = true; /* eight colours have bright ones only as bold */
    return paint;
}
