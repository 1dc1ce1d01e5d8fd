#include "figures/group.h"

#include "ground/mem.h"

#include <string.h>

const char *split_name(const char *split)
{
    return !strcmp(split, "test_id") || !strcmp(split, "id") ? "ID" : !strcmp(split, "test_ood") || !strcmp(split, "ood") ? "OOD" : split;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    if (a->text || b->text) return a->text && b->text && !strcmp(a->text, b->text);
    return a->number == b->number || (isnan(a->number) && isnan(b->number));
}

static bool is_constant(const struct table *table, size_t column)
{
    for (size_t r = 1; r < table->row_count; r++)
        if (!same_cell(table_cell(table, 0, column), table_cell(table, r, column))) return false;
    return true;
}

void groups_use(struct groups *groups, const struct table *table, int x)
{
    *groups = (struct groups){.table = table, .split = table_find(table, "split"), .columns = mem_new(table->column_count * sizeof *groups->columns)};
    for (size_t c = 0; c < table->column_count; c++) {
        enum role role = table->columns[c].role;
        if ((int)c == x || (int)c == groups->split || (role != ROLE_LABEL && role != ROLE_AXIS)) continue;
        if (!is_constant(table, c)) groups->columns[groups->column_count++] = c;
    }
}

/* "test_two_hop_ood" is the split test_ood of "two hop": questions of several kinds are told apart by colour, ID and OOD by dashes as ever. */
static void take_kind(struct text *split, struct text *other)
{
    static const char *const ends[] = {"_id", "_ood"};
    for (size_t i = 0; i < 2; i++) {
        size_t start = strlen("test_"), end = strlen(ends[i]);
        if (!text_starts(split->data, "test_") || !text_ends(split->data, ends[i]) || split->size <= start + end) continue;
        if (other->size) text_add(other, ", ");
        for (const char *c = split->data + start; c < split->data + split->size - end; c++) text_add(other, "%c", *c == '_' ? ' ' : *c);
        split->size = 0;
        text_add(split, "test%s", ends[i]);
        return;
    }
}

size_t groups_find(struct groups *groups, const struct table *table, size_t row, const char *value_name)
{
    struct text split = {0}, other = {0};
    text_add(&split, "%s", "");
    text_add(&other, "%s", value_name ? value_name : "");
    if (groups->split >= 0) table_show(table, row, (size_t)groups->split, &split);
    for (size_t i = 0; i < groups->column_count; i++) {
        const struct column *column = &table->columns[groups->columns[i]];
        if (other.size) text_add(&other, ", ");
        if (column->role == ROLE_AXIS) text_add(&other, "%s ", column->name);
        table_show(table, row, groups->columns[i], &other);
    }
    take_kind(&split, &other);
    size_t found = 0;
    while (found < groups->count && (strcmp(groups->items[found].split, split.data) || strcmp(groups->items[found].other, other.data))) found++;
    if (found == groups->count) {
        mem_grow(&groups->items, &groups->room, groups->count + 1, sizeof *groups->items);
        groups->items[groups->count++] = (struct group){mem_text(split.data), mem_text(other.data)};
    }
    text_clear(&split);
    text_clear(&other);
    return found;
}

/* The number of different texts before item i; the count of all when i is the count. */
static int rank_of(const struct groups *groups, size_t i, bool by_split)
{
    int rank = 0;
    for (size_t a = 0; a < i; a++) {
        const char *text = by_split ? groups->items[a].split : groups->items[a].other;
        bool first = true;
        if (i < groups->count && !strcmp(text, by_split ? groups->items[i].split : groups->items[i].other)) return rank_of(groups, a, by_split);
        for (size_t b = 0; b < a; b++) first = first && strcmp(text, by_split ? groups->items[b].split : groups->items[b].other);
        rank += first;
    }
    return rank;
}

/* ID is solid and filled, OOD dashed and open; other splits beside them take what is left: solid and open, dashed and filled. */
static void mark_split(const struct groups *groups, size_t i, struct style *style)
{
    int turn = 0, ours = 0;
    for (size_t a = 0; a < groups->count; a++) {
        bool known = !strcmp(split_name(groups->items[a].split), "ID") || strstr(groups->items[a].split, "ood"), first = true;
        for (size_t b = 0; b < a; b++) first = first && strcmp(groups->items[a].split, groups->items[b].split);
        if (known) ours = 2;
        else if (first && rank_of(groups, a, true) < rank_of(groups, i, true)) turn++;
    }
    style->open = (turn + ours) % 4 == 2 || (turn + ours) % 4 == 1;
    style->dashed = (turn + ours) % 4 == 3 || (turn + ours) % 4 == 1;
}

static struct style find_style(const struct groups *groups, size_t i)
{
    const char *split = groups->items[i].split;
    bool ood = strstr(split, "ood") || (!*split && strstr(groups->items[i].other, "ood"));
    bool id = !strcmp(split_name(split), "ID");
    int others = rank_of(groups, groups->count, false);
    int turn = others > 1 ? rank_of(groups, i, false) : ood ? 1 : id ? 0 : rank_of(groups, i, true) + (groups->split >= 0 && *split ? 2 : 0);
    struct style style = {.colour = turn % COLOURS, .marker = (enum marker)(turn % MARKER_KINDS), .open = ood, .dashed = ood};
    if (others > 1 && !ood && !id && *split) mark_split(groups, i, &style);
    if (turn >= COLOURS) style.open = !style.open, style.dashed = !style.dashed; /* the colours begin again */
    return style;
}

/* Many series are explained by their parts: colours for what was done, dashes and fillings for the split. */
static void add_legend(const struct groups *groups, struct figure *figure)
{
    int others = rank_of(groups, groups->count, false), splits = rank_of(groups, groups->count, true);
    bool parts = others > 1 && splits > 1 && (size_t)(others + splits) < groups->count;
    for (size_t i = 0; i < groups->count; i++) {
        struct style style = figure->series[i].style;
        if (!parts) figure_legend(figure, figure->series[i].name, style);
        else if (rank_of(groups, i, false) == (int)figure->legend_count) {
            style.open = style.dashed = false;
            figure_legend(figure, groups->items[i].other, style);
        }
    }
    for (size_t i = 0; parts && i < groups->count; i++) {
        struct style style = figure->series[i].style;
        if (rank_of(groups, i, true) != (int)figure->legend_count - others) continue;
        style.colour = -1;
        style.marker = MARKER_DISC;
        figure_legend(figure, split_name(groups->items[i].split), style);
    }
}

/* How many series stay when only the rows with these values are drawn. */
static size_t count_where(const struct groups *groups, const char *where)
{
    struct table *fewer = table_where(groups->table, where, NULL);
    struct groups left = {.columns = groups->columns, .column_count = groups->column_count, .split = groups->split};
    for (size_t r = 0; fewer && r < fewer->row_count; r++) groups_find(&left, fewer, r, NULL);
    size_t count = left.count;
    left.columns = NULL; /* borrowed */
    groups_clear(&left);
    table_free(fewer);
    return count;
}

/* Which rows to keep so that the series can be told apart: one value, that of the last row, of as few columns as it takes; places go first and the
 * split last. */
static bool refuse(const struct groups *groups, struct err *err)
{
    const struct table *table = groups->table;
    struct text where = {0};
    err_set(err, "%s: %zu series are too many to tell apart (at most %d)", text_show(table->name), groups->count, SERIES_MOST);
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = pass == 2 ? 1 : groups->column_count; i--;) {
            size_t c = pass == 2 ? (size_t)groups->split : groups->columns[i];
            if (pass == 2 ? groups->split < 0 : table->columns[c].role != (pass ? ROLE_LABEL : ROLE_AXIS)) continue;
            if (where.size && count_where(groups, where.data) * (groups->values ? groups->values : 1) <= SERIES_MOST) break;
            const struct cell *cell = table_cell(table, table->row_count - 1, c);
            text_add(&where, "%s%s=", where.size ? "," : "", table->columns[c].name);
            if (cell->text) text_add(&where, "%s", cell->text);
            else text_add(&where, "%.17g", cell->number);
        }
    err_add(err, ": draw some of the rows, for instance those with --where %s%s%s", where.size ? "'" : "", where.size ? text_show(where.data) : "",
            where.size ? "'" : "");
    text_clear(&where);
    return false;
}

bool groups_add(const struct groups *groups, struct figure *figure, struct err *err)
{
    int others = rank_of(groups, groups->count, false);
    if (groups->count > SERIES_MOST) return refuse(groups, err);
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->items[i];
        struct text name = {0};
        text_add(&name, "%s", split_name(group->split));
        if (*group->other && (others > 1 || !name.size)) text_add(&name, "%s%s", name.size ? ", " : "", group->other);
        figure_series(figure, name.data, find_style(groups, i));
        text_clear(&name);
    }
    add_legend(groups, figure);
    return true;
}

void groups_clear(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        mem_free(groups->items[i].split);
        mem_free(groups->items[i].other);
    }
    mem_free(groups->items);
    mem_free(groups->columns);
    *groups = (struct groups){0};
}
