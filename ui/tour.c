#include "tour.h"

#include <string.h>

/* Words are those of the help; what the numbers are is said by the views, not here, so that the tour fits any two-hop model. */
static const struct step { const char *view, *split, *title, *text; } steps[] = {
    {"loops", NULL, "the loop",
     "This model runs one stack of blocks several times. h.0 enters loop 1, h.k is what loop k leaves behind, the last one is decoded. "
     "Left and right walk through the loops, up and down through the sites. The question of this tour: is what loop 1 found of use to loop 2?"},
    {"splits", NULL, "how often it is right",
     "Accuracy by split and stage, with its interval. Questions on facts seen in two hops (ID) go well, those seen only alone (OOD) do not. "
     "Below: the bridge, the entity between the two hops, can be decoded after loop 1 on both."},
    {"grid", "test_ood", "one question",
     "A question it has not seen in two hops. Columns are boundaries, rows positions; each cell shows what that state decodes to. "
     "n goes to the next wrong answer. Look at h.1, where the bridge stands: the right token, P near 1."},
    {"grid", "test_ood", "decodable is not aligned",
     "Now the cosine: the state decodes to the bridge but does not point where the bridge's embedding does, which is what loop 2 knows facts about. "
     "m changes the number in the cells, w the token that is watched, arrows move the cursor."},
    {"intervene", "test_ood", "hand the token over",
     "h <- (1 - alpha) h + alpha e: mix the embedding of the decoded token into the state behind loop 1. Left and right move alpha; watch "
     "P(answer) below. Tab goes to the other fields; u takes a change back."},
    {"intervene", "test_ood", "the whole curve",
     "s computes the accuracy of both splits at every alpha; the curve grows while it is computed, and goes on when you look elsewhere. "
     "c takes the controls, with wrong tokens, away, f counts the answers that flip, x stops."},
    {"figures", NULL, "take it along",
     "Press 5, s and, when the curve is there, e: that writes a PNG, its table and its caption into figures/. < leads back here, where it stands. "
     "In the log (key 9) stands every command of this session; loopscope replay runs it again and gives the same bytes."},
    {"models", NULL, "your own",
     "o opens a folder with config.json and model.safetensors; what cannot be read is said by name. Several are open at once: O turns between "
     "them, the question stays. d chooses the questions. "
     "? explains the keys and words of each view and what to do when something looks wrong. That was the tour."},
};
enum { STEPS = sizeof steps / sizeof *steps };

static void show(struct app *app, int step)
{
    struct err err = {0};
    const struct view *view = view_find(steps[step].view);
    app->tour = step;
    if (steps[step].split) settings_set(app, "split", steps[step].split, &err);
    if (view) app_go(app, view);
}

void tour_begin(struct app *app) { show(app, 0); }

/* In another view it waits: its own keys are of use there. */
static bool waits(const struct app *app) { return app->view != view_find(steps[app->tour].view); }

bool tour_takes(const struct app *app, int key) { return app->tour >= 0 && !waits(app) && key == PRESS_ENTER; }

bool tour_key(struct app *app, int key)
{
    if (waits(app)) {
        if (key == '<') show(app, app->tour);
        return key == '<';
    }
    bool on = key == '>' || key == PRESS_ENTER; /* Enter would lead away from what the step is about */
    if (on && app->tour + 1 < STEPS) show(app, app->tour + 1);
    else if (key == '<' && app->tour > 0) show(app, app->tour - 1);
    else if (on || key == PRESS_ESCAPE) app->tour = -1;
    else return key == '<';
    return true;
}

int tour_draw(struct app *app, struct cells *cells, struct area area)
{
    const struct step *step = &steps[app->tour];
    if (waits(app)) {
        struct text line = {0};
        text_add(&line, "tour %d of %d: %s", app->tour + 1, STEPS, step->title);
        draw_heading(cells, area.row + area.rows - 1, area.col, area.cols, line.data);
        draw_right(cells, area.row + area.rows - 1, area.col + area.cols - 2, TINT_KEY, " < back to it ");
        text_clear(&line);
        return 1;
    }
    int width = area.cols - 4, need = (text_width(step->text) + width - 1) / (width > 0 ? width : 1) + 2;
    int rows = need < area.rows / 2 ? need : area.rows / 2, top = area.row + area.rows - rows;
    struct text title = {0};
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < area.cols; c++) cells_text(cells, top + r, area.col + c, TINT_PLAIN, " ");
    text_add(&title, "tour %d of %d: %s", app->tour + 1, STEPS, step->title);
    draw_heading(cells, top, area.col, area.cols, title.data);
    draw_right(cells, top, area.col + area.cols - 2, TINT_KEY, " %s next  < back%s ", cells->ascii ? "Enter" : "⏎",
               area.cols >= 76 ? "  Esc ends" : "");
    draw_wrapped(cells, (struct area){top + 1, area.col + 2, rows - 1, width}, TINT_PLAIN, step->text);
    text_clear(&title);
    return rows;
}
