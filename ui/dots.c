#include "dots.h"

#include "ground/mem.h"

#include <math.h>
#include <stdlib.h>

enum { DOTS_X = 2, DOTS_Y = 4 };

struct spot {
    unsigned char bits;
    unsigned short tally[TINT_COUNT]; /* dots of each tint */
};

struct dots {
    struct area area;
    struct spot *spots; /* rows x cols */
};

struct dots *dots_new(struct area area)
{
    struct dots *dots = mem_new(sizeof *dots);
    if (area.rows < 0) area.rows = 0;
    if (area.cols < 0) area.cols = 0;
    dots->area = area;
    dots->spots = mem_new((size_t)area.rows * (size_t)area.cols * sizeof *dots->spots);
    return dots;
}

void dots_free(struct dots *dots)
{
    if (!dots) return;
    mem_free(dots->spots);
    mem_free(dots);
}

static int clip(double x, int count)
{
    int at = (int)floor(x * count);
    return at < 0 ? 0 : at >= count ? count - 1 : at;
}

int dots_row(struct area area, double y) { return area.row + clip(1 - y, area.rows); }
int dots_col(struct area area, double x) { return area.col + clip(x, area.cols); }

static void light(struct dots *dots, int x, int y, enum tint tint)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int col = x / DOTS_X, row = y / DOTS_Y;
    if (x < 0 || y < 0 || col >= dots->area.cols || row >= dots->area.rows) return;
    struct spot *spot = &dots->spots[(size_t)row * (size_t)dots->area.cols + (size_t)col];
    spot->bits |= bits[y % DOTS_Y][x % DOTS_X];
    if (spot->tally[tint] < 0xffff) spot->tally[tint]++;
}

void dots_set(struct dots *dots, double x, double y, enum tint tint, int size)
{
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1) || !dots->area.rows || !dots->area.cols) return;
    int at_x = clip(x, dots->area.cols * DOTS_X), at_y = clip(1 - y, dots->area.rows * DOTS_Y);
    light(dots, at_x, at_y, tint);
    if (size > 1) light(dots, at_x ^ 1, at_y, tint);
}

void dots_line(struct dots *dots, double x0, double y0, double x1, double y1, enum tint tint) { dots_dashes(dots, x0, y0, x1, y1, tint, false); }

void dots_dashes(struct dots *dots, double x0, double y0, double x1, double y1, enum tint tint, bool dashed)
{
    enum { DASH = 3 };
    double wide = fabs(x1 - x0) * dots->area.cols * DOTS_X, high = fabs(y1 - y0) * dots->area.rows * DOTS_Y;
    int steps = (int)ceil(fmin(fmax(wide, high), 1 << 14));
    for (int i = 0; i <= steps; i++) {
        double t = steps ? (double)i / steps : 0;
        if (dashed && clip(x0 + t * (x1 - x0), dots->area.cols * DOTS_X) / DASH % 2) continue;
        dots_set(dots, x0 + t * (x1 - x0), y0 + t * (y1 - y0), tint, 1);
    }
}

/* Of most dots; of the later tint where two have as many. */
static enum tint spot_tint(const struct spot *spot)
{
    enum tint best = TINT_PLAIN;
    for (int t = 1; t < TINT_COUNT; t++)
        if (spot->tally[t] && spot->tally[t] >= spot->tally[best]) best = (enum tint)t;
    return best;
}

char dots_letter(enum tint tint)
{
    static const char letters[TINT_COUNT] = {[TINT_SERIES_1] = '*', [TINT_SERIES_2] = 'o', [TINT_SERIES_3] = '+', [TINT_SERIES_4] = 'x',
                                             [TINT_SERIES_5] = '#', [TINT_SERIES_6] = '%', [TINT_SERIES_7] = '@'};
    return letters[tint] ? letters[tint] : '.';
}

void dots_draw(const struct dots *dots, struct cells *cells)
{
    for (int r = 0; r < dots->area.rows; r++)
        for (int c = 0; c < dots->area.cols; c++) {
            const struct spot *spot = &dots->spots[(size_t)r * (size_t)dots->area.cols + (size_t)c];
            enum tint tint = spot_tint(spot);
            char text[4] = {dots_letter(tint)};
            if (!spot->bits) continue;
            if (!cells->ascii) {
                text[0] = (char)0xe2; /* U+2800 and the dots, in UTF-8 */
                text[1] = (char)(0xa0 | spot->bits >> 6);
                text[2] = (char)(0x80 | (spot->bits & 0x3f));
            }
            cells_put(cells, dots->area.row + r, dots->area.col + c, tint, text, 1);
        }
}
