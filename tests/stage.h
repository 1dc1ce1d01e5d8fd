/* What tests of the screen share: an app whose commands are planted, keys, and what is then to be seen.
 *
 *     struct app *app = start(planted, "models/vanilla");
 *     press(app, ":view grid<Enter>mm");                   (what the view wants is computed behind every key)
 *     assert_shows(app, "cosine");
 *     finish(app);
 */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "app.h"

#include "ground/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static inline struct app *start(command_runner *run, const char *model) { return app_new(session_new(1), run, model); }

static inline void finish(struct app *app)
{
    struct session *session = app->session;
    app_free(app);
    session_free(session);
}

static inline void press(struct app *app, const char *keys)
{
    app_settle(app);
    while (*keys) {
        int key = key_read(&keys);
        assert_true(key != 0);
        app_key(app, key);
        app_settle(app);
    }
}

static inline char *screen(struct app *app, int rows, int cols)
{
    struct cells *cells = cells_new(rows, cols);
    struct text out = {0};
    int row, col;
    app_draw(app, cells, &row, &col);
    cells_page(cells, &out);
    cells_free(cells);
    return out.data;
}

static inline void assert_shows(struct app *app, const char *text)
{
    char *got = screen(app, 24, 100);
    if (!strstr(got, text)) fail_msg("'%s' is not on the screen\n%s", text, got);
    mem_free(got);
}

#endif
