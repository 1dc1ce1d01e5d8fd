#include "form.h"

#include "ground/mem.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int option_count(const struct form *form)
{
    int n = 0;
    while (form->kind && n < FORM_OPTIONS && form->kind->options[n].name) n++;
    return n;
}

static int option_place(const struct form *form, const char *name)
{
    for (int i = 0; i < option_count(form); i++)
        if (!strcmp(form->kind->options[i].name, name)) return i;
    return -1;
}

static void take_kind(struct form *form, const struct intervention *kind)
{
    form->kind = kind;
    for (int i = 0; i < option_count(form); i++) {
        const char *fallback = kind->options[i].fallback;
        snprintf(form->values[i], sizeof *form->values, "%s", fallback ? fallback : "");
    }
}

void form_start(struct form *form)
{
    *form = (struct form){.boundary = 1, .last = 1};
    take_kind(form, interventions[0]);
    int alpha = option_place(form, "alpha");
    form->field = alpha >= 0 ? alpha : -1;
}

void form_place(struct form *form, int boundary, int position)
{
    int place = option_place(form, "position");
    form->boundary = form->last = boundary;
    if (place >= 0) snprintf(form->values[place], sizeof *form->values, "%d", position);
}

double form_alpha(const struct form *form)
{
    int place = option_place(form, "alpha");
    double value = NAN;
    if (place >= 0) parse_number(form->values[place], &value);
    return value;
}

void form_set_alpha(struct form *form, double alpha)
{
    int place = option_place(form, "alpha");
    if (place >= 0) snprintf(form->values[place], sizeof *form->values, "%.2f", alpha);
}

void form_value(const struct form *form, const char *option, char out[32])
{
    int place = option_place(form, option);
    if (!strcmp(option, "boundary")) snprintf(out, 32, "%d", form->boundary);
    else snprintf(out, 32, "%s", place >= 0 ? form->values[place] : "");
}

int form_position(const struct form *form, const struct lens *lens)
{
    char value[32];
    long number;
    if (form->by_token) return form->boundary - 1;
    form_value(form, "position", value);
    value[strcspn(value, "+")] = 0;
    if (!strcmp(value, "bridge")) return lens->bridge_position;
    if (!strcmp(value, "answer")) return lens->answer_position;
    if (!parse_int(value, &number)) return -1;
    return (int)(number < 0 ? number + lens->positions : number);
}

void form_move(struct form *form, int step)
{
    int first = interventions[0] && interventions[1] ? -2 : -1, last = option_count(form) - 1;
    do {
        form->field += step;
        if (form->field < first) form->field = last;
        if (form->field > last) form->field = first;
    } while (form->by_token && form->field >= 0 && form->field == option_place(form, "position"));
}

/* ---- change */

static void next_choice(char value[32], const char *choices, int step)
{
    const char *list[32];
    int sizes[32], count = 0, at = 0;
    for (const char *c = choices; *c && count < 32; c += *c == '|') {
        list[count] = c;
        sizes[count] = (int)strcspn(c, "|");
        if ((int)strlen(value) == sizes[count] && !strncmp(c, value, strlen(value))) at = count;
        c += sizes[count++];
    }
    at = (at + step + count) % count;
    snprintf(value, 32, "%.*s", sizes[at], list[at]);
}

/* Positions are numbers, and two names for places that differ between questions. */
static void next_position(char value[32], int positions, int step)
{
    struct text choices = {0};
    value[strcspn(value, "+")] = 0;
    for (int i = 0; i < positions && i < 24; i++) text_add(&choices, "%d|", i);
    text_add(&choices, "bridge|answer");
    next_choice(value, choices.data, step);
    text_clear(&choices);
}

static void next_number(char value[32], const struct option *option, int step)
{
    double number = 0;
    bool limited = option->low != 0 || option->high != 0, whole = option->kind == OPTION_INT;
    parse_number(value, &number);
    double size = whole ? 1 : limited ? (option->high - option->low) / 20 : 0.05;
    number = round(number / size + step) * size; /* a multiple of the step, never a sum of steps */
    if (limited && number < option->low) number = option->low;
    if (limited && number > option->high) number = option->high;
    if (whole && !limited && number < 0) number = 0;
    snprintf(value, 32, whole ? "%.0f" : "%.2f", number);
}

static void next_kind(struct form *form, int step)
{
    int count = 0, at = 0;
    for (; interventions[count]; count++)
        if (interventions[count] == form->kind) at = count;
    take_kind(form, interventions[(at + step + count) % count]);
}

bool form_change(struct form *form, int step, int positions, int boundaries)
{
    int i = form->field;
    if (!form->kind) return false;
    if (i == -2) next_kind(form, step);
    else if (i == -1) {
        form->boundary += step;
        if (form->boundary >= boundaries - 1) form->boundary = boundaries - 2; /* behind the last loop nothing follows */
        if (form->boundary < 0) form->boundary = 0;
        form->last = form->boundary;
    } else {
        const struct option *option = &form->kind->options[i];
        if (!strcmp(option->name, "position")) next_position(form->values[i], positions, step);
        else if (option->kind == OPTION_CHOICE) next_choice(form->values[i], option->choices, step);
        else if (option->kind == OPTION_FLAG) snprintf(form->values[i], sizeof form->values[i], "%s", *form->values[i] ? "" : "yes");
        else next_number(form->values[i], option, step);
    }
    return i < 0 || strcmp(form->kind->options[i].name, "alpha") != 0;
}

/* "1" becomes "1+2", "1+2+0" ...; and back. */
static bool extend_position(char value[32], int positions, int step)
{
    char *last = strrchr(value, '+');
    long number;
    if (step < 0 && last) *last = 0;
    if (step < 0) return true;
    if (!parse_int(last ? last + 1 : value, &number) || number < 0 || positions < 1) return false;
    char more[16];
    snprintf(more, sizeof more, "%ld", (number + 1) % positions);
    for (const char *at = value; *at; at += strcspn(at, "+") + (at[strcspn(at, "+")] != 0)) /* all are there */
        if (strlen(more) == strcspn(at, "+") && !strncmp(at, more, strlen(more))) return true;
    if (strlen(value) + strlen(more) + 2 <= 32) strcat(strcat(value, "+"), more);
    return true;
}

bool form_extend(struct form *form, int step, int positions, int boundaries)
{
    int place = option_place(form, "position");
    if (form->field == -1) {
        form->last += step;
        if (form->last > boundaries - 2) form->last = boundaries - 2;
        if (form->last < form->boundary) form->last = form->boundary;
        return true;
    }
    return form->field >= 0 && form->field == place && extend_position(form->values[place], positions, step);
}

/* ---- as a line, and on the screen */

static bool read_pairs(struct form *form, const char *pairs)
{
    while (*pairs) {
        size_t size = strcspn(pairs, ","), name_size = strcspn(pairs, "=");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(name_size < size ? name_size : size), pairs);
        int place = option_place(form, name);
        if (place < 0 || name_size >= size || size - name_size > sizeof *form->values) return false;
        snprintf(form->values[place], sizeof *form->values, "%.*s", (int)(size - name_size - 1), pairs + name_size + 1);
        pairs += size + (pairs[size] == ',');
    }
    return true;
}

bool form_read(struct form *form, const char *edit)
{
    struct form read = *form;
    const char *at = strchr(edit, '@');
    char *end;
    if (!at || (at[1] != 'h' && at[1] != 's') || at[2] != '.') return false;
    for (size_t i = 0; interventions[i]; i++)
        if (strlen(interventions[i]->name) == (size_t)(at - edit) && !strncmp(interventions[i]->name, edit, (size_t)(at - edit)))
            take_kind(&read, interventions[i]);
    read.boundary = read.last = (int)strtol(at + 3, &end, 10);
    if (end == at + 3 || read.boundary < 0) return false;
    if (*end == '-') read.last = (int)strtol(end + 1, &end, 10);
    if (read.last < read.boundary || (*end != ':' && *end)) return false;
    struct args args = {0};
    struct err err = {0};
    bool good = args_parse_pairs(&args, read.kind->options, *end ? end + 1 : NULL, &err); /* the same checks as on the command line */
    if (good) args_clear(&args);
    if (!good || !read_pairs(&read, *end ? end + 1 : "")) return false;
    if (read.kind != form->kind) read.field = -1;
    *form = read;
    return true;
}

void form_add(const struct form *form, bool with_alpha, struct text *out)
{
    text_add(out, "%s@%c.%d", form->kind ? form->kind->name : "", form->by_token ? 's' : 'h', form->boundary);
    if (form->last > form->boundary) text_add(out, "-%d", form->last);
    char mark = ':';
    for (int i = 0; i < option_count(form); i++) {
        const struct option *option = &form->kind->options[i];
        bool alpha = !strcmp(option->name, "alpha"), place = !strcmp(option->name, "position");
        bool always = alpha || place || !strcmp(option->name, "norm");
        if ((alpha && !with_alpha) || (place && form->by_token)) continue;
        if (!*form->values[i] || (!always && option->fallback && !strcmp(option->fallback, form->values[i]))) continue;
        text_add(out, "%c%s=%s", mark, option->name, form->values[i]);
        mark = ',';
    }
}

static void draw_field(struct cells *cells, struct area area, int *row, int *col, const char *name, const char *value, bool marked)
{
    int width = text_width(name) + text_width(value) + 3;
    if (*col > area.col + 1 && *col + width > area.col + area.cols) ++*row, *col = area.col + 1;
    *col = cells_text(cells, *row, *col, TINT_DIM, "%s ", name);
    int from = *col;
    *col = cells_text(cells, *row, *col, marked ? TINT_TITLE : TINT_PLAIN, "[%s]", value);
    if (marked) draw_mark(cells, *row, from, *col - from);
    *col += 2;
}

enum { SLIDER_LABEL = 14, SLIDER_MARGIN = 19 }; /* columns before the rail, and what is no rail of the area */

struct area form_slider(const struct form *form, struct area area, int rows)
{
    bool there = option_place(form, "alpha") >= 0;
    return (struct area){area.row + rows - 1, area.col + 1 + SLIDER_LABEL, 1, there && area.cols > SLIDER_MARGIN ? area.cols - SLIDER_MARGIN : 0};
}

static void draw_slider(const struct form *form, struct cells *cells, int row, int col, int width, bool marked)
{
    double alpha = form_alpha(form);
    col = cells_text(cells, row, col, TINT_DIM, "alpha ");
    int from = col;
    col = cells_text(cells, row, col, TINT_TITLE, "%.2f", alpha);
    if (marked) draw_mark(cells, row, from, col - from);
    col = cells_text(cells, row, col + 2, TINT_DIM, "0 ");
    int rail = width - 16; /* as form_slider says */
    for (int i = 0; i < rail; i++) cells_text(cells, row, col + i, i < alpha * (rail - 1) ? TINT_KEY : TINT_DIM, "─");
    if (rail > 1 && !isnan(alpha)) cells_text(cells, row, col + (int)lround(alpha * (rail - 1)), TINT_KEY, "●");
    cells_text(cells, row, col + rail, TINT_DIM, " 1");
}

int form_draw(const struct form *form, struct cells *cells, struct area area)
{
    int row = area.row, col = area.col + 1;
    char boundary[32];
    if (!form->kind) return 0;
    snprintf(boundary, sizeof boundary, "%c.%d", form->by_token ? 's' : 'h', form->boundary);
    if (form->last > form->boundary) snprintf(boundary, sizeof boundary, "%c.%d-%d", form->by_token ? 's' : 'h', form->boundary, form->last);
    draw_field(cells, area, &row, &col, "edit", form->kind->name, form->field == -2);
    draw_field(cells, area, &row, &col, "boundary", boundary, form->field == -1);
    int alpha = option_place(form, "alpha"), place = form->by_token ? option_place(form, "position") : -1;
    for (int i = 0; i < option_count(form); i++)
        if (i != alpha && i != place) draw_field(cells, area, &row, &col, form->kind->options[i].name, form->values[i], form->field == i);
    row++;
    if (alpha >= 0) draw_slider(form, cells, row++, area.col + 1, area.cols - 3, form->field == alpha);
    return row - area.row;
}
