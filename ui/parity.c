#include "parity.h"

#include "opened.h"

#include "ground/file.h"
#include "ground/mem.h"

#include <math.h>
#include <string.h>

int parity_want(struct app *app, const char *model)
{
    const struct opened *one = opened_find(app, model);
    char *path = path_join(one ? one->path : model, "reference.safetensors"), *file = session_file(app->session, path);
    struct text line = {0};
    bool there = file_exists(file);
    mem_free(path), mem_free(file);
    if (!there) return -1;
    text_add(&line, "selftest ");
    text_add_quoted(&line, model);
    int want = app_want(app, "%s", line.data);
    text_clear(&line);
    return want;
}

static bool is_off(const struct table *table, size_t r)
{
    const char *result = table_text(table, r, "result");
    return !result || strcmp(result, "ok") != 0;
}

static void draw_outcome(struct cells *cells, struct area line, const struct table *table)
{
    double all = 0, logits = -1;
    int off = 0;
    struct text text = {0};
    for (size_t r = 0; r < table->row_count; r++) {
        const char *tensor = table_text(table, r, "tensor");
        double worst = table_number(table, r, "worst");
        off += is_off(table, r);
        all = fmax(all, worst);
        if (tensor && !strcmp(tensor, "logits")) logits = worst;
    }
    const char *what = logits >= 0 ? "logits" : "states";
    if (logits < 0) logits = all;
    if (off) text_add(&text, "parity: %d of %zu tensors are NOT as the stored reference has them (selftest)", off, table->row_count);
    else if (line.cols >= 76) text_add(&text, "parity: %s match the stored reference, worst difference %.0e (selftest)", what, logits);
    else text_add(&text, "parity: %s as stored, worst difference %.0e", what, logits);
    cells_put(cells, line.row, line.col, off ? TINT_BAD : TINT_GOOD, text.data, line.cols);
    text_clear(&text);
}

void parity_draw(const struct app *app, struct cells *cells, struct area line, int want)
{
    const struct result *result = app_result(app, want);
    const struct table *table = result_table(result, 0);
    bool ended = result && result_ended(result);
    if (line.rows < 1) return;
    if (want < 0) cells_put(cells, line.row, line.col, TINT_DIM, "parity: no stored reference", line.cols);
    else if (!ended) cells_put(cells, line.row, line.col, TINT_DIM, "parity: being compared with the stored reference ...", line.cols);
    else if (table && table->row_count) draw_outcome(cells, line, table);
    else cells_put(cells, line.row, line.col, TINT_BAD, result->wrong ? result->wrong : "parity: not compared", line.cols);
}

void parity_draw_all(const struct app *app, struct cells *cells, struct area area, int want)
{
    static const char *const columns[] = {"tensor", "worst", "result", NULL};
    const struct table *table = result_table(app_result(app, want), 0);
    if (!table || (int)table->row_count + 2 > area.rows) return;
    draw_heading(cells, area.row, area.col, area.cols, "against the stored reference");
    draw_table(cells, (struct area){area.row + 1, area.col, area.rows - 1, area.cols}, table, columns, -1);
}
