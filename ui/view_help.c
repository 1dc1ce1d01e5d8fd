#include "app.h"
#include "enter.h"
#include "search.h"
#include "tour.h"

#include "ground/mem.h"
#include "registry.h"

#include <string.h>

/* One line each: on the screen these words mean exactly this. */
static const struct word { const char *name, *means; } words[] = {
    {"loop k of K", "one pass of the shared stack of blocks; the same weights every time"},
    {"boundary k", "what stands between loops: state h.k, before anything is mixed back in"},
    {"h.0, h.K", "the embedding that enters loop 1; the state that the head decodes"},
    {"interface", "the rule that turns h.k into x.k+1, the input of the next loop"},
    {"bridge", "the entity between two hops: a r1 -> bridge, bridge r2 -> answer"},
    {"decode", "from a state to probabilities of tokens, with the model's own head"},
    {"lens", "decoding every boundary, not only the last"},
    {"P, rank", "probability of a token when decoded; its place among all, 1 is best"},
    {"cos W[t]", "cosine of the state with token t's embedding: 1 is the same direction"},
    {"decodable", "the token has the most probability (here: P at least .5)"},
    {"aligned", "the state points where the embedding does (here: cosine at least .8)"},
    {"stage-k accuracy", "right answers when h.k is decoded at the answer's position"},
    {"alpha", "how far a state is moved: h <- (1 - alpha) h + alpha e"},
    {"norm", "the length e is given: rms, match (that of h), l2, or none"},
    {"ID, OOD", "questions on facts seen in two hops, and on facts seen only alone"},
    {"[low, high]", "Wilson interval, 95 %: where the accuracy may truly be, for this n"},
    {"excluded", "questions left out because a number was not finite; never hidden"},
    {"n/a", "not defined, like a cosine with a zero vector; never counted as 0"},
};

/* What one sees, and where to look. */
static const struct word symptoms[] = {
    {"P is 1, answer wrong", "decodable is not aligned: the state decodes to the bridge, but loop 2 looks at where it points. The grid's cosine "
                             "says so; intervene mixes the bridge's embedding in"},
    {"the curve is flat", "the edit does nothing there: see 'wrote ... rows, largest change' beside it. Another position (that of the bridge), "
                          "an earlier boundary, target oracle; at the last boundary nothing follows that could use it"},
    {"flat, and moved > 0", "the edit is made but not used: controls (c) and the drift behind the edit tell whether later loops keep it"},
    {"the curve falls", "norm: e may be much longer than the state; try match. Or the decoded token is wrong: compare target oracle"},
    {"ID falls with alpha", "what was right already is overwritten; the flips name the questions"},
    {"cosine is n/a", "the state or the embedding is a zero vector: nothing points anywhere"},
    {"stage 1 is right, too", "the question needs one loop only: an atomic split, or a shortcut; look at another split"},
    {"all splits near 0", "another dataset than the model was trained on (d), or a split with other tokens"},
    {"OOD wrong, P low", "loop 1 has not found the bridge: nothing to hand over; the question is about loop 1, not about the interface"},
    {"no effect", "the edit changed nothing: another position, boundary or target"},
    {"wide [low, high]", "few questions: leave --limit away, or make a larger split"},
    {"numbers differ", "from your own script: the decode (norm before the head?), the position, the split; `info` names every default"},
    {"a view refuses", "read it: it names the file, the key, and what would be right"},
    {"no dataset known", "a model without recipe: d asks for the data it was trained on"},
    {"numbers look old", "R reads the files again, F whenever they change; the line above the keys says that they have"},
    {"it takes long", "progress stands above the keys, of work behind this view in the first line; x or Ctrl-C stops it and keeps what it had"},
    {"odd characters", ":set ascii on; colours: :set theme light, or none"},
};

static const struct word elsewhere[] = {
    {"7B, gradients", "nnsight, TransformerLens (Python, GPU)"},
    {"autoencoders", "SAELens; attribution graphs: circuit-tracer"},
    {"tuned lens", "tuned-lens; training at scale: the papers' own code"},
};

enum { LEFT = 22, PAGE_ROWS = 300 };

struct page {
    struct cells *cells; /* the whole help, of which a window is shown */
    int row, symptoms;   /* symptoms: the row where they begin */
};

static void line(struct page *p, enum tint tint, const char *left, const char *right)
{
    struct area area = {p->row, LEFT + 3, PAGE_ROWS - p->row, p->cells->cols - LEFT - 6};
    cells_put(p->cells, p->row, 2, tint, left, LEFT);
    p->row += draw_wrapped(p->cells, area, TINT_PLAIN, right);
}

static void heading(struct page *p, const char *text)
{
    p->row += p->row > 0;
    draw_heading(p->cells, p->row++, 1, p->cells->cols - 4, text);
}

static void bindings(struct page *p, const struct binding *list)
{
    for (const struct binding *b = list; b && b->keys[0]; b++) {
        struct text keys = {0};
        binding_show(b, p->cells->ascii, false, &keys);
        line(p, TINT_KEY, keys.data, b->help);
        text_clear(&keys);
    }
}

static void list(struct page *p, const char *title, const struct word *entries, size_t count)
{
    heading(p, title);
    for (size_t i = 0; i < count; i++) line(p, TINT_TITLE, entries[i].name, entries[i].means);
}

static void verbs(struct page *p)
{
    const char *name, *usage;
    heading(p, "behind : besides every command");
    for (size_t i = 0; (name = screen_verb(i)); i++) {
        const char *help = screen_verb_help(i, &usage);
        struct text left = {0};
        text_add(&left, "%s %s", name, usage);
        line(p, TINT_KEY, left.data, help);
        text_clear(&left);
    }
}

static void all(struct page *p, const struct app *app)
{
    const struct view *of = app_before(app) ? app_before(app) : views[0];
    struct text title = {0};
    text_add(&title, "%s: %s", of->name, of->title);
    heading(p, title.data);
    text_clear(&title);
    line(p, TINT_DIM, "shows", of->help);
    bindings(p, of->keys);
    heading(p, "keys everywhere");
    bindings(p, app_keys);
    verbs(p);
    list(p, "words", words, sizeof words / sizeof *words);
    p->symptoms = p->row + 1;
    list(p, "symptoms", symptoms, sizeof symptoms / sizeof *symptoms);
    list(p, "not here: tools that do it", elsewhere, sizeof elsewhere / sizeof *elsewhere);
}

struct state { int first; bool symptoms; }; /* symptoms: they are looked for at the next drawing */

static void press_scroll(struct app *app, int key)
{
    struct state *s = app_state(app, sizeof *s);
    s->first += key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : key == PRESS_PAGE_UP ? -15 : key == PRESS_HOME ? -s->first : 15;
    if (s->first < 0) s->first = 0;
}

static void press_symptoms(struct app *app, int key)
{
    struct state *s = app_state(app, sizeof *s);
    (void)key;
    s->symptoms = true;
}

static void press_tour(struct app *app, int key)
{
    (void)key;
    tour_begin(app);
}

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "scroll", "moves through the help", press_scroll},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN, ' ', PRESS_HOME}, NULL, "by the page, to the top", press_scroll},
    {{'t'}, "tour", "five minutes on the bundled models, with the keys to press", press_tour},
    {{'s'}, "symptoms", "what to do when something looks wrong", press_symptoms},
    {{0}},
};

static struct page make_page(struct app *app, int cols)
{
    struct page page = {.cells = cells_new(PAGE_ROWS, cols)};
    page.cells->ascii = app->ascii;
    all(&page, app);
    return page;
}

static bool search(struct app *app, const char *text, int step)
{
    struct state *s = app_state(app, sizeof *s);
    struct page page = make_page(app, app->cols);
    struct text lines = {0};
    cells_page(page.cells, &lines);
    int at = search_lines(lines.data, text, s->first, step);
    text_clear(&lines);
    cells_free(page.cells);
    if (at >= 0) s->first = at;
    return at >= 0;
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = app_state(app, sizeof *s);
    struct page page = make_page(app, area.cols);
    int most = page.row > area.rows ? page.row - area.rows : 0;
    if (s->symptoms) s->first = page.symptoms;
    s->symptoms = false;
    if (s->first > most) s->first = most;
    draw_window(cells, area, page.cells, s->first);
    draw_scroll(cells, area, s->first, page.row);
    cells_free(page.cells);
}

const struct view view_help = {
    .name = "help", .title = "keys and words", .help = "the keys of the view before, the words on the screen, symptoms, other tools",
    .keys = keys, .draw = draw, .search = search,
};
