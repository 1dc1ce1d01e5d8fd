#include "result.h"

#include "ground/clock.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

/* Rows wait this long for others, so that a thousand quick rows are a few posts and not a thousand redraws. */
static const double gather_seconds = 0.03;

/* ---- the screen's side */

struct result *result_new(const char *line)
{
    struct result *result = mem_new(sizeof *result);
    result->line = mem_text(line);
    return result;
}

void result_free(struct result *result)
{
    if (!result) return;
    for (size_t i = 0; i < result->table_count; i++) table_free(result->tables[i]);
    mem_free(result->tables);
    mem_free(result->line);
    mem_free(result->scene);
    mem_free(result->wrong);
    text_clear(&result->notes);
    text_clear(&result->said);
    mem_free(result);
}

const struct table *result_table(const struct result *result, size_t i)
{
    return result && i < result->table_count ? result->tables[i] : NULL;
}

void post_free(struct post *post)
{
    if (!post) return;
    if (post->table) table_free(post->table);
    mem_free(post->text);
    mem_free(post);
}

static void add_rows(struct result *result, const struct table *rows)
{
    if (!result->table_count) return;
    struct table *into = result->tables[result->table_count - 1];
    for (size_t i = 0; i < rows->row_count; i++) table_row(into, rows->cells + i * rows->column_count);
}

static void end(struct result *result, struct post *post)
{
    result->moving = false;
    result->seconds = clock_seconds() - result->started;
    result->state = post->good ? RESULT_DONE : post->stopped ? RESULT_STOPPED : RESULT_FAILED;
    if (!post->good) {
        mem_free(result->wrong);
        result->wrong = post->text;
        post->text = NULL;
    }
}

void result_take(struct result *result, struct post *post)
{
    switch (post->kind) {
    case POST_START:
        result->state = RESULT_RUNNING;
        result->started = clock_seconds();
        break;
    case POST_TABLE:
        mem_grow(&result->tables, &result->table_room, result->table_count + 1, sizeof *result->tables);
        result->tables[result->table_count++] = post->table;
        post->table = NULL;
        break;
    case POST_ROWS: add_rows(result, post->table); break;
    case POST_PROGRESS:
        result->standing = post->standing;
        result->moving = true;
        break;
    case POST_NOTE: text_add(&result->notes, "%s\n", post->text); break;
    case POST_SAY: text_add(&result->said, "%s\n", post->text); break;
    case POST_END: end(result, post); break;
    }
    post_free(post);
}

/* ---- the command's side */

static void give(struct feed *feed, enum post_kind kind, struct table *table, const char *text)
{
    struct post *post = mem_new(sizeof *post);
    post->kind = kind;
    post->table = table;
    post->text = mem_text(text);
    feed->give(feed->to, post);
}

static void give_rows(struct feed *feed)
{
    if (!feed->rows) return;
    struct table *rows = feed->rows;
    feed->rows = NULL;
    feed->given = clock_seconds();
    give(feed, POST_ROWS, rows, NULL);
}

static void feed_table(struct sink *sink, const struct table *shape)
{
    struct feed *feed = (struct feed *)sink;
    give_rows(feed);
    if (feed->shape) table_free(feed->shape);
    feed->shape = table_copy(shape);
    give(feed, POST_TABLE, table_copy(shape), NULL);
}

static void feed_row(struct sink *sink, const struct cell *cells)
{
    struct feed *feed = (struct feed *)sink;
    if (!feed->shape) return;
    if (!feed->rows) feed->rows = table_copy(feed->shape);
    table_row(feed->rows, cells);
    if (clock_seconds() - feed->given > gather_seconds) give_rows(feed);
}

static bool feed_progress(struct sink *sink, const struct progress *progress)
{
    struct feed *feed = (struct feed *)sink;
    give_rows(feed);
    struct post *post = mem_new(sizeof *post);
    post->kind = POST_PROGRESS;
    post->standing = (struct standing){.done = progress->done, .total = progress->total, .rate = progress->rate, .left = progress->left};
    snprintf(post->standing.what, sizeof post->standing.what, "%s", progress->what ? progress->what : "");
    snprintf(post->standing.unit, sizeof post->standing.unit, "%s", progress->unit ? progress->unit : "");
    snprintf(post->standing.detail, sizeof post->standing.detail, "%s", progress->detail ? progress->detail : "");
    feed->give(feed->to, post);
    return !feed->go_on || feed->go_on(feed->to);
}

static void feed_note(struct sink *sink, const char *line)
{
    give((struct feed *)sink, POST_NOTE, NULL, line);
}

static void feed_say(struct sink *sink, const char *text)
{
    give((struct feed *)sink, POST_SAY, NULL, text);
}

void feed_start(struct feed *feed, void (*giver)(void *to, struct post *post), bool (*go_on)(void *to), void *to)
{
    *feed = (struct feed){
        .sink = {.table = feed_table, .row = feed_row, .progress = feed_progress, .note = feed_note, .say = feed_say},
        .give = giver, .go_on = go_on, .to = to, .given = clock_seconds(),
    };
    give(feed, POST_START, NULL, NULL);
}

void feed_end(struct feed *feed, bool good, const struct err *err)
{
    give_rows(feed);
    if (feed->shape) table_free(feed->shape);
    feed->shape = NULL;
    struct post *post = mem_new(sizeof *post);
    post->kind = POST_END;
    post->good = good;
    post->stopped = !good && err->stopped;
    post->text = good ? NULL : mem_text(err->text);
    feed->give(feed->to, post);
}
