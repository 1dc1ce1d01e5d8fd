#include "theme.h"

#include <string.h>

/* Close to Okabe and Ito's palette within 16 colours: blue and orange-yellow for the two main series stay apart for every kind of colour vision, and
 * good and bad are told apart by weight, too; a fifth series in cyan would look like the first. On a light ground yellow would vanish: OOD is red
 * there, and bad magenta. */
static const struct paint paints[][TINT_COUNT] = {
    [THEME_DARK] = {
        [TINT_PLAIN] = {-1}, [TINT_DIM] = {-1, .dim = true}, [TINT_TITLE] = {-1, .bold = true}, [TINT_KEY] = {6, .bold = true},
        [TINT_GOOD] = {2}, [TINT_BAD] = {1, .bold = true}, [TINT_WARN] = {3}, [TINT_CHANGED] = {5, .bold = true},
        [TINT_SERIES_1] = {12}, [TINT_SERIES_2] = {3}, [TINT_SERIES_3] = {2}, [TINT_SERIES_4] = {5}, [TINT_SERIES_5] = {-1}, [TINT_SERIES_6] = {9},
        [TINT_SERIES_7] = {-1, .dim = true},
    },
    [THEME_LIGHT] = {
        [TINT_PLAIN] = {-1}, [TINT_DIM] = {8}, [TINT_TITLE] = {-1, .bold = true}, [TINT_KEY] = {4, .bold = true},
        [TINT_GOOD] = {2}, [TINT_BAD] = {5, .bold = true}, [TINT_WARN] = {5}, [TINT_CHANGED] = {6, .bold = true},
        [TINT_SERIES_1] = {4}, [TINT_SERIES_2] = {1}, [TINT_SERIES_3] = {2}, [TINT_SERIES_4] = {5}, [TINT_SERIES_5] = {-1}, [TINT_SERIES_6] = {8},
        [TINT_SERIES_7] = {-1},
    },
    [THEME_NONE] = {
        [TINT_PLAIN] = {-1}, [TINT_DIM] = {-1, .dim = true}, [TINT_TITLE] = {-1, .bold = true}, [TINT_KEY] = {-1, .bold = true},
        [TINT_GOOD] = {-1}, [TINT_BAD] = {-1, .bold = true}, [TINT_WARN] = {-1, .bold = true}, [TINT_CHANGED] = {-1, .bold = true},
        [TINT_SERIES_1] = {-1}, [TINT_SERIES_2] = {-1}, [TINT_SERIES_3] = {-1}, [TINT_SERIES_4] = {-1}, [TINT_SERIES_5] = {-1},
        [TINT_SERIES_6] = {-1},
        [TINT_SERIES_7] = {-1, .dim = true},
    },
};

struct paint theme_paint(enum theme theme, enum tint tint, int colours)
{
    struct paint paint = paints[theme][(unsigned)tint < TINT_COUNT ? tint : TINT_PLAIN];
    if (colours < 8) paint.colour = -1;
    else if (colours < 16 && paint.colour >= 8) { /* eight colours have bright ones only as bold, and no grey */
        paint.dim |= paint.colour == 8;
        paint.bold |= paint.colour > 8;
        paint.colour = paint.colour == 8 ? -1 : paint.colour - 8;
    }
    return paint;
}

static const char *const names[] = {"dark", "light", "none"};

const char *theme_name(enum theme theme) { return names[theme]; }

bool theme_parse(const char *name, enum theme *theme)
{
    for (int i = 0; i < THEMES; i++)
        if (!strcmp(names[i], name)) return *theme = (enum theme)i, true;
    return false;
}

/* ---- pictures */

/* The sixteen colours of a terminal, close to Okabe and Ito's where they have one. */
static const unsigned dark[16] = {
    0x16181d, 0xe06c52, 0x35b08a, 0xe0a030, 0x4a8fd0, 0xcc79a7, 0x56b4c9, 0xd6d9df,
    0x7f8694, 0xff8f73, 0x5fd0a8, 0xf0e442, 0x6fb2f0, 0xe7a3c8, 0x7fd4e6, 0xffffff,
};
static const unsigned light[16] = {
    0x1c1e22, 0xb5401a, 0x00755a, 0x8a5a00, 0x0060a8, 0x9c3f78, 0x00708a, 0x5a5f68,
    0x6b7078, 0xd55e00, 0x009e73, 0x8a7a00, 0x0072b2, 0xcc79a7, 0x2a86a8, 0x000000,
};

unsigned theme_ground(enum theme theme) { return theme == THEME_LIGHT ? 0xfbfbf8 : 0x16181d; }

struct picture_paint theme_picture(enum theme theme, enum tint tint)
{
    struct paint paint = theme_paint(theme, tint, 16);
    unsigned letters = theme == THEME_LIGHT ? 0x1c1e22 : 0xd6d9df, faint = theme == THEME_LIGHT ? 0x6b7078 : 0x7f8694;
    const unsigned *palette = theme == THEME_LIGHT ? light : dark;
    return (struct picture_paint){paint.dim ? faint : paint.colour < 0 ? letters : palette[paint.colour], paint.bold};
}
