/* Where everything in a figure stands, and the drawing of it, from measured sizes alone: nothing overlaps, whatever the canvas is. */
#include "figures/canvas.h"
#include "figures/ticks.h"
#include "ground/mem.h"

#include <string.h>

struct layout {
    const struct figure *figure;
    struct canvas *canvas;
    struct table *boxes;
    struct rect frame, plot;  /* the frame's lines, and the ends of the axes inside it */
    struct ticks x, y;
    struct rect legend;
    size_t legend_columns;    /* 1: inside the plot; more: in rows above it */
    double legend_column;     /* width of one */
    double sample;            /* width of the sample before a name */
    double *hits;             /* sampled points of all marks, x y x y ... */
    size_t hit_count, hit_room;
};

struct table *boxes_new(void)
{
    struct table *boxes = table_new("layout");
    table_column(boxes, "what", ROLE_LABEL, NULL);
    table_column(boxes, "text", ROLE_LABEL, NULL);
    table_column(boxes, "left", ROLE_VALUE, "%.2f");
    table_column(boxes, "top", ROLE_VALUE, "%.2f");
    table_column(boxes, "right", ROLE_VALUE, "%.2f");
    table_column(boxes, "bottom", ROLE_VALUE, "%.2f");
    return boxes;
}

static void put(struct layout *l, const char *what, const struct place *place, const char *text)
{
    struct size size = l->canvas->measure(l->canvas, place->use, text);
    double width = place->turned ? size.height : size.width, height = place->turned ? size.width : size.height;
    double left = place->x - width * (place->across + 1) / 2, top = place->y - height * (place->down + 1) / 2;
    l->canvas->text(l->canvas, place, text);
    if (!l->boxes) return;
    table_row(l->boxes, (struct cell[]){cell_text(what), cell_text(text), cell_number(left), cell_number(top), cell_number(left + width),
                                        cell_number(top + height)});
}

/* Far outside is as good as farther outside, and fits the integers of every canvas. NaN stays NaN. */
static double clamp(double position)
{
    const double far = 1e4;
    return position > far ? far : position < -far ? -far : position;
}

static double map_x(const struct layout *l, double x)
{
    const struct axis *axis = &l->figure->x;
    return clamp(l->plot.left + (x - axis->low) / (axis->high - axis->low) * (l->plot.right - l->plot.left));
}

static double map_y(const struct layout *l, double y)
{
    const struct axis *axis = &l->figure->y;
    return clamp(l->plot.bottom - (y - axis->low) / (axis->high - axis->low) * (l->plot.bottom - l->plot.top));
}

static double widest(struct canvas *canvas, const struct ticks *ticks)
{
    double width = 0;
    for (size_t i = 0; i < ticks->count; i++) {
        char text[TICK_TEXT];
        tick_text(ticks, i, text);
        width = fmax(width, canvas->measure(canvas, TEXT_TICK, text).width);
    }
    return width;
}

/* The finest round step at which neighbouring numbers still stand apart. */
static void find_x_ticks(struct layout *l)
{
    const struct axis *axis = &l->figure->x;
    double width = fmax(l->plot.right - l->plot.left, 1), range = axis->high - axis->low;
    for (double step = step_round(fmax(range / width * l->canvas->apart.width, axis->whole));; step = step_next(step)) {
        l->x = ticks_find(axis->low, axis->high, step);
        double need = widest(l->canvas, &l->x) + l->canvas->apart.width;
        if (l->x.count < 2 || step / range * width >= need) return;
    }
}

static void find_y_ticks(struct layout *l)
{
    const struct axis *axis = &l->figure->y;
    double height = fmax(l->plot.bottom - l->plot.top, 1);
    double need = fmax(l->canvas->least_step, l->canvas->measure(l->canvas, TEXT_TICK, "0").height + l->canvas->apart.height);
    l->y = ticks_find(axis->low, axis->high, step_round((axis->high - axis->low) / height * need));
}

static void find_frame(struct layout *l, double above)
{
    struct canvas *c = l->canvas;
    struct size number = c->measure(c, TEXT_TICK, "0"), name = c->measure(c, TEXT_NAME, l->figure->x.name);
    l->frame.top = c->edge.height + above + (c->turns ? number.height / 2 : name.height);
    l->frame.bottom = c->height - c->edge.height - name.height - c->gap.height - number.height - c->gap.height - c->tick.height - c->frame.height;
    l->plot.top = l->frame.top + c->inset.height;
    l->plot.bottom = l->frame.bottom - c->inset.height;
    find_y_ticks(l);
    l->frame.left = c->edge.width + (c->turns ? name.height + c->gap.width : 0) + widest(c, &l->y) + c->gap.width + c->tick.width + c->frame.width;
    l->frame.right = c->width - c->edge.width;
    for (int pass = 0; pass < 2; pass++) { /* the last number may reach over the end of its axis */
        l->plot.left = l->frame.left + c->inset.width;
        l->plot.right = l->frame.right - c->inset.width;
        find_x_ticks(l);
        if (!l->x.count) break;
        char text[TICK_TEXT];
        tick_text(&l->x, l->x.count - 1, text);
        double over = map_x(l, l->x.at[l->x.count - 1]) + c->measure(c, TEXT_TICK, text).width / 2 - (c->width - c->edge.width);
        if (over <= 0) break;
        l->frame.right -= over;
    }
}

static void add_hit(struct layout *l, double x, double y)
{
    mem_grow(&l->hits, &l->hit_room, l->hit_count + 2, sizeof *l->hits);
    l->hits[l->hit_count++] = x;
    l->hits[l->hit_count++] = y;
}

static void sample_segment(struct layout *l, double x0, double y0, double x1, double y1)
{
    enum { PIECES = 24 };
    for (int i = 0; i <= PIECES; i++) add_hit(l, x0 + (x1 - x0) * i / PIECES, y0 + (y1 - y0) * i / PIECES);
}

/* Points that a legend must not hide. */
static void sample_marks(struct layout *l)
{
    for (size_t i = 0; i < l->figure->mark_count; i++) {
        const struct mark *m = &l->figure->marks[i];
        for (size_t j = 0; j < m->count; j++) {
            double x = map_x(l, m->x[j]), y = map_y(l, m->y[j]);
            bool next = m->kind != MARK_POINTS && j + 1 < m->count && isfinite(m->x[j + 1]) && isfinite(m->y[j + 1]);
            if (m->kind == MARK_RULE && isfinite(x)) sample_segment(l, x, l->plot.top, x, l->plot.bottom);
            if (m->kind == MARK_RULE && isfinite(y)) sample_segment(l, l->plot.left, y, l->plot.right, y);
            if (!isfinite(x) || !isfinite(y)) continue;
            add_hit(l, x, y);
            if (next) sample_segment(l, x, y, map_x(l, m->x[j + 1]), map_y(l, m->y[j + 1]));
            if (next && m->high) sample_segment(l, x, map_y(l, m->high[j]), map_x(l, m->x[j + 1]), map_y(l, m->high[j + 1]));
        }
    }
}

static size_t count_hits(const struct layout *l, const struct rect *box, double across, double down)
{
    size_t count = 0;
    for (size_t i = 0; i < l->hit_count; i += 2)
        count += l->hits[i] > box->left - across && l->hits[i] < box->right + across && l->hits[i + 1] > box->top - down &&
                 l->hits[i + 1] < box->bottom + down;
    return count;
}

/* Corners first, then the middles of the sides, then anywhere inside. */
static bool place_inside(struct layout *l, double width, double height)
{
    static const double spots[][2] = {
        {1, 0}, {1, 1}, {0, 0}, {0, 1}, {1, .5}, {0, .5}, {.5, 0}, {.5, 1}, {1, .25}, {1, .75}, {0, .25}, {0, .75}, {.5, .5}, {.5, .25}, {.5, .75},
        {1, .125}, {1, .375}, {1, .625}, {1, .875}, {0, .125}, {0, .375}, {0, .625}, {0, .875},
    };
    double room_x = l->plot.right - l->plot.left - width, room_y = l->plot.bottom - l->plot.top - height, away = l->canvas->legend.height / 2;
    for (size_t i = 0; i < sizeof spots / sizeof *spots && room_x >= 0 && room_y >= 0; i++) {
        struct rect box = {.left = l->plot.left + room_x * spots[i][0], .top = l->plot.top + room_y * spots[i][1]};
        if (!l->canvas->turns) box.left = round(box.left), box.top = round(box.top); /* whole cells */
        box.right = box.left + width;
        box.bottom = box.top + height;
        if (count_hits(l, &box, away, away)) continue;
        l->legend = box;
        return true;
    }
    return false;
}

static bool has_marks(const struct figure *figure, enum mark_kind kind)
{
    for (size_t i = 0; i < figure->mark_count; i++)
        if (figure->marks[i].kind == kind) return true;
    return false;
}

/* Inside the plot where it hides nothing; else in rows above it. */
static void place_legend(struct layout *l)
{
    struct canvas *c = l->canvas;
    double text = 0;
    size_t count = l->figure->legend_count;
    if (!count || (count == 1 && !*l->figure->legend->name)) return;
    for (size_t i = 0; i < count; i++) text = fmax(text, c->measure(c, TEXT_LEGEND, l->figure->legend[i].name).width);
    l->sample = has_marks(l->figure, MARK_LINE) ? c->legend.width : c->legend.width / 3;
    l->legend_column = l->sample + c->gap.width * 2 + text;
    l->legend_columns = 1;
    sample_marks(l);
    if (place_inside(l, l->legend_column, (double)count * c->legend.height)) return;
    double width = l->frame.right - l->frame.left, each = l->legend_column + c->apart.width / 2;
    l->legend_columns = width > each ? (size_t)((width + c->apart.width / 2) / each) : 1;
    if (l->legend_columns > count) l->legend_columns = count;
    size_t rows = (count + l->legend_columns - 1) / l->legend_columns;
    find_frame(l, (double)rows * c->legend.height + c->gap.height);
    l->legend_column = each;
    if (l->plot.bottom - l->plot.top < c->height / 4) { /* the curves matter more; the caption names them */
        l->legend_columns = 0;
        find_frame(l, 0);
    }
    l->legend = (struct rect){.left = l->plot.left, .top = c->edge.height};
}

static void draw_legend(struct layout *l)
{
    struct canvas *c = l->canvas;
    bool lines = has_marks(l->figure, MARK_LINE);
    for (size_t i = 0; l->legend_columns && i < l->figure->legend_count; i++) {
        const struct series *entry = &l->figure->legend[i];
        size_t rows = (l->figure->legend_count + l->legend_columns - 1) / l->legend_columns; /* filled column by column */
        double left = l->legend.left + (double)(i / rows) * l->legend_column;
        double middle = l->legend.top + ((double)(i % rows) + 0.5) * c->legend.height;
        if (lines) c->line(c, &entry->style, (double[]){left, left + l->sample}, (double[]){middle, middle}, 2);
        c->marker(c, &entry->style, left + l->sample / 2, middle, false, !lines);
        struct place place = {.use = TEXT_LEGEND, .x = left + l->sample + c->gap.width * 2, .y = middle, .across = -1, .colour = entry->style.colour};
        put(l, "legend", &place, entry->name);
    }
}

/* The middle of a name: that of its axis, unless the name would reach over the edge. */
static double middle(double wish, double length, double room, double edge) { return fmax(fmin(wish, room - edge - length / 2), edge + length / 2); }

static void draw_names(struct layout *l, double below)
{
    struct canvas *c = l->canvas;
    const struct axis *x = &l->figure->x, *y = &l->figure->y;
    struct place place = {.use = TEXT_NAME, .y = below, .down = -1, .colour = -1};
    place.x = middle((l->plot.left + l->plot.right) / 2, c->measure(c, TEXT_NAME, x->name).width, c->width, c->edge.width);
    put(l, "x name", &place, x->name);
    place = (struct place){.use = TEXT_NAME, .x = c->edge.width, .y = l->frame.top, .across = -1, .down = 1, .colour = -1};
    if (c->turns) {
        place.turned = true;
        place.down = 0;
        place.y = middle((l->plot.top + l->plot.bottom) / 2, c->measure(c, TEXT_NAME, y->name).width, c->height, c->edge.height);
    }
    put(l, "y name", &place, y->name);
}

static void draw_axes(struct layout *l)
{
    struct canvas *c = l->canvas;
    double at[TICKS_MOST], below = l->frame.bottom + c->frame.height + c->tick.height + c->gap.height;
    double beside = l->frame.left - c->frame.width - c->tick.width - c->gap.width, number = c->measure(c, TEXT_TICK, "0").height;
    char text[TICK_TEXT];
    for (size_t i = 0; i < l->x.count; i++) at[i] = map_x(l, l->x.at[i]);
    c->spine(c, false, l->frame.bottom, l->plot.left, l->plot.right, at, l->x.count);
    for (size_t i = 0; i < l->x.count; i++) {
        tick_text(&l->x, i, text);
        put(l, "x number", &(struct place){.use = TEXT_TICK, .x = at[i], .y = below, .down = -1, .colour = -1}, text);
    }
    for (size_t i = 0; i < l->y.count; i++) at[i] = map_y(l, l->y.at[i]);
    c->spine(c, true, l->frame.left, l->plot.bottom, l->plot.top, at, l->y.count);
    for (size_t i = 0; i < l->y.count; i++) {
        tick_text(&l->y, i, text);
        put(l, "y number", &(struct place){.use = TEXT_TICK, .x = beside, .y = at[i], .across = 1, .colour = -1}, text);
    }
    draw_names(l, below + number + c->gap.height);
}

/* Calls for every stretch without a gap: start and length. */
static size_t next_stretch(const struct mark *m, size_t *start)
{
    while (*start < m->count && !(isfinite(m->x[*start]) && isfinite(m->y[*start]))) (*start)++;
    size_t end = *start;
    while (end < m->count && isfinite(m->x[end]) && isfinite(m->y[end])) end++;
    return end - *start;
}

/* Markers that would touch their neighbour are left out, but a point without a line is always seen. */
static void draw_markers(struct layout *l, const struct style *style, const double *x, const double *y, size_t count)
{
    double last = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (x[i] - last < l->canvas->legend.height * 0.75) continue;
        l->canvas->marker(l->canvas, style, x[i], y[i], false, count == 1);
        last = x[i];
    }
}

/* The band of a point alone. */
static void draw_bar(struct canvas *c, const struct style *style, double x, double low, double high)
{
    double half = c->inset.width * 0.7;
    c->band(c, style, (double[]){x - half, x + half}, (double[]){low, low}, (double[]){high, high}, 2);
}

static void draw_mark(struct layout *l, const struct mark *m, bool markers)
{
    struct canvas *c = l->canvas;
    const struct style *style = m->series < 0 ? NULL : &l->figure->series[m->series].style;
    double *x = mem_new(m->count * sizeof *x), *y = mem_new(m->count * sizeof *y), *high = mem_new(m->count * sizeof *high);
    for (size_t j = 0; j < m->count; j++) {
        x[j] = map_x(l, m->x[j]);
        y[j] = map_y(l, m->y[j]);
        if (m->high) high[j] = map_y(l, m->high[j]);
    }
    for (size_t start = 0, count; m->kind != MARK_RULE && (count = next_stretch(m, &start)); start += count) {
        if (m->kind == MARK_BAND && count > 1) c->band(c, style, x + start, y + start, high + start, count);
        if (m->kind == MARK_BAND && count == 1) draw_bar(c, style, x[start], y[start], high[start]);
        if (m->kind == MARK_LINE && markers) draw_markers(l, style, x + start, y + start, count);
        else if (m->kind == MARK_LINE && count > 1) c->line(c, style, x + start, y + start, count);
        for (size_t j = start; m->kind == MARK_POINTS && j < start + count; j++) c->marker(c, style, x[j], y[j], m->count > 100, true);
    }
    for (size_t j = 0; m->kind == MARK_RULE && j < m->count; j++) {
        if (isfinite(x[j])) c->rule(c, x[j], l->plot.top, x[j], l->plot.bottom);
        if (isfinite(y[j])) c->rule(c, l->plot.left, y[j], l->plot.right, y[j]);
    }
    mem_free(x);
    mem_free(y);
    mem_free(high);
}

static void draw_marks(struct layout *l)
{
    static const struct { enum mark_kind kind; bool markers; } order[] = {
        {MARK_BAND, false}, {MARK_RULE, false}, {MARK_LINE, false}, {MARK_POINTS, false}, {MARK_LINE, true},
    };
    l->canvas->clip(l->canvas, &l->frame);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < l->figure->mark_count; i++)
            if (l->figure->marks[i].kind == order[k].kind) draw_mark(l, &l->figure->marks[i], order[k].markers);
    l->canvas->clip(l->canvas, NULL);
}

bool figure_draw(const struct figure *figure, struct canvas *canvas, struct table *boxes)
{
    struct layout layout = {.figure = figure, .canvas = canvas, .boxes = boxes};
    find_frame(&layout, 0);
    if (layout.plot.right <= layout.plot.left || layout.plot.bottom <= layout.plot.top) return false;
    place_legend(&layout);
    draw_marks(&layout);
    draw_axes(&layout);
    draw_legend(&layout);
    mem_free(layout.hits);
    return true;
}
