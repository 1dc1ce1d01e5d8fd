#include "term.h"

#include "keys.h"
#include "theme.h"

#include "ground/mem.h"
#include "ground/text.h"
#include "ground/width.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static const char stand_in[] = "xterm-256color"; /* what nearly every terminal without an entry of its own understands */

/* A process has one controlling terminal, and signal handlers must reach it: so this is the one global state of the screen. */
static struct {
    SCREEN *screen;
    struct cells *shown;    /* what the terminal shows now */
    bool ascii, poor;
    int colours;
    enum theme theme;
    bool mouse;
    int mouse_row, mouse_col;
    struct termios before;
    char restore[256];      /* what puts the terminal back, ready to be written */
    volatile sig_atomic_t open;
} term;

/* ---- what kind of terminal it is */

static bool has_entry(const char *name)
{
    int status = 0;
    if (setupterm(name, STDOUT_FILENO, &status) != OK) return false;
    del_curterm(cur_term);
    return true;
}

static const char *entry_name(void)
{
    const char *name = getenv("TERM");
    return has_entry(name) ? name : has_entry(stand_in) ? stand_in : NULL;
}

static bool can_move(const char *name)
{
    int status = 0;
    if (setupterm(name, STDOUT_FILENO, &status) != OK) return false;
    const char *cup = tigetstr("cup");
    bool can = cup && cup != (char *)-1;
    del_curterm(cur_term);
    return can;
}

enum term_kind term_kind(void)
{
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !name || !*name || !strcmp(name, "dumb")) return TERM_TEXT;
    const char *entry = entry_name();
    return !entry ? TERM_UNKNOWN : can_move(entry) ? TERM_SCREEN : TERM_TEXT;
}

/* ---- open and give back */

/* Capabilities hold padding like $<2>, which only tputs knows to leave out. */
static void add_capability(const char *name)
{
    const char *s = tigetstr(name);
    if (!s || s == (char *)-1) return;
    size_t used = strlen(term.restore);
    while (*s && used + 1 < sizeof term.restore) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (end) s = end + 1;
        else term.restore[used++] = *s++;
    }
    term.restore[used] = '\0';
}

static void choose_letters(const char *entry)
{
    const char *wish = getenv("LC_ALL");
    if (!wish || !*wish) wish = getenv("LC_CTYPE");
    if (!wish || !*wish) wish = getenv("LANG");
    if (!setlocale(LC_CTYPE, "") && wish && (strstr(wish, "UTF-8") || strstr(wish, "utf8"))) setlocale(LC_CTYPE, "C.UTF-8");
    term.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 || text_starts(entry, "vt");
    term.poor = !strcmp(entry, "linux");
}

static void make_pairs(void)
{
    int ground = use_default_colors() == OK ? -1 : COLOR_BLACK;
    for (int t = 0; t < TINT_COUNT; t++) {
        struct paint paint = theme_paint(term.theme, t, term.colours);
        init_pair((short)(t + 1), (short)paint.colour, (short)ground);
    }
}

static void choose_colours(void)
{
    const char *no = getenv("NO_COLOR");
    term.colours = 0;
    if ((no && *no) || !has_colors() || start_color() != OK) return;
    term.colours = COLORS;
    make_pairs();
}

void term_theme(enum theme theme)
{
    if (theme == term.theme) return;
    term.theme = theme;
    if (term.colours) make_pairs();
    term_repaint();
}

/* ncurses knows which terminals have one, and switches it off in endwin. */
void term_mouse(bool on)
{
    if (on == term.mouse) return;
    term.mouse = on;
    mouseinterval(0); /* a press is a click: nobody waits for the second half of a double one */
    mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}

void term_mouse_at(int *row, int *col)
{
    *row = term.mouse_row;
    *col = term.mouse_col;
}

static void add_base64(struct text *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16 | (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0);
        for (int d = 0; d < 4; d++) text_add(out, "%c", i + (size_t)d > size ? '=' : digits[group >> (18 - 6 * d) & 63]);
    }
}

/* There is no way to ask: these say that they do, or pass it on, or pass over it in silence. */
bool term_copy(const char *text)
{
    static const char *const willing[] = {"xterm", "tmux", "screen", "foot", "alacritty", "kitty", "wezterm", "ghostty", "rxvt", "st-", "contour"};
    const char *name = getenv("TERM");
    struct text out = {0};
    bool known = false;
    for (size_t i = 0; name && i < sizeof willing / sizeof *willing; i++) known |= text_starts(name, willing[i]);
    if (!known || !term.open) return false;
    text_add(&out, "\033]52;c;");
    add_base64(&out, (const unsigned char *)text, strlen(text));
    text_add(&out, "\a");
    bool whole = write(STDOUT_FILENO, out.data, out.size) == (ssize_t)out.size;
    text_clear(&out);
    return whole;
}

bool term_open(struct err *err)
{
    const char *entry = entry_name();
    if (!entry) return err_set(err, "TERM=%s: no entry in the terminal database: set TERM=xterm-256color", text_show(getenv("TERM")));
    choose_letters(entry);
    tcgetattr(STDIN_FILENO, &term.before);
    term.screen = newterm(entry, stdout, stdin);
    if (!term.screen) return err_set(err, "TERM=%s: cannot be used for a screen: set TERM=xterm-256color", text_show(entry));
    term.restore[0] = '\0';
    add_capability("sgr0"), add_capability("rmkx"), add_capability("cnorm"), add_capability("rmcup");
    term.open = 1;
    cbreak(), noecho();
    keypad(stdscr, TRUE), nodelay(stdscr, TRUE), intrflush(stdscr, FALSE);
    set_escdelay(25);
    curs_set(0);
    choose_colours();
    term_resized();
    return true;
}

void term_close(void)
{
    if (!term.open) return;
    term.open = 0;
    term_mouse(false);
    endwin();
    delscreen(term.screen);
    term.screen = NULL;
    cells_free(term.shown);
    term.shown = NULL;
}

void term_give_back(void)
{
    if (!term.open) return;
    term.open = 0;
    size_t size = strlen(term.restore);
    static const char mouse_off[] = "\033[?1006l\033[?1002l\033[?1000l";
    if (term.mouse && write(STDOUT_FILENO, mouse_off, sizeof mouse_off - 1) < 0) size = 0;
    if (write(STDOUT_FILENO, term.restore, size) != (ssize_t)size) size = 0; /* nothing can be done about it here */
    tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
}

void term_suspend(void)
{
    endwin();
    tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
    raise(SIGSTOP); /* not SIGTSTP: that is ignored where no shell waits */
    reset_prog_mode();
    term_resized();
}

/* ---- size */

void term_size(int *rows, int *cols)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
    *rows = known ? size.ws_row : 24;
    *cols = known ? size.ws_col : 80;
}

void term_repaint(void)
{
    cells_free(term.shown);
    term.shown = NULL;
}

void term_resized(void)
{
    int rows, cols;
    term_size(&rows, &cols);
    resizeterm(rows, cols);
    term_repaint();
}

bool term_ascii(void) { return term.ascii; }
bool term_poor(void) { return term.poor; }

/* ---- keys */

int term_fd(void) { return STDIN_FILENO; }

bool term_gone(void)
{
    int waiting = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0;
}

static int mouse_key(void)
{
    MEVENT event;
    if (getmouse(&event) != OK) return 0;
    term.mouse_row = event.y;
    term.mouse_col = event.x;
    return event.bstate & BUTTON1_PRESSED ? PRESS_CLICK : event.bstate & BUTTON4_PRESSED ? PRESS_WHEEL_UP
         : event.bstate & BUTTON5_PRESSED ? PRESS_WHEEL_DOWN : 0;
}

static int special_key(wint_t code)
{
    if (code == KEY_MOUSE) return mouse_key();
    static const struct { wint_t code; int press; } keys[] = {
        {KEY_UP, PRESS_UP}, {KEY_DOWN, PRESS_DOWN}, {KEY_LEFT, PRESS_LEFT}, {KEY_RIGHT, PRESS_RIGHT}, {KEY_PPAGE, PRESS_PAGE_UP},
        {KEY_NPAGE, PRESS_PAGE_DOWN}, {KEY_HOME, PRESS_HOME}, {KEY_END, PRESS_END}, {KEY_BTAB, PRESS_BACK_TAB}, {KEY_DC, PRESS_DELETE},
        {KEY_BACKSPACE, PRESS_BACKSPACE}, {KEY_ENTER, PRESS_ENTER},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code) return keys[i].press;
    return 0;
}

int term_key(void)
{
    for (;;) {
        wint_t code = 0;
        int got = get_wch(&code);
        if (got == ERR) return 0;
        int key = got == KEY_CODE_YES ? special_key(code) : code == 127 || code == 8 ? PRESS_BACKSPACE : code == '\r' ? PRESS_ENTER : (int)code;
        if (key) return key; /* what has no name here, a resize among it, is passed over */
    }
}

/* ---- showing */

static void put(int row, int col, const struct glyph *glyph)
{
    wchar_t letters[8] = {0};
    int n = 0;
    for (const char *s = glyph->text; *s && n < 6;) {
        unsigned code;
        int size = text_utf8(s, &code);
        letters[n++] = !size || (code > 126 && term.ascii) ? L'?' : (wchar_t)code;
        s += size ? size : 1;
    }
    if (!n) letters[n++] = L' ';
    struct paint paint = theme_paint(term.theme, glyph->tint, term.colours);
    attr_t look = (paint.bold || glyph->look & LOOK_BOLD ? A_BOLD : 0) | (paint.dim ? A_DIM : 0) | (glyph->look & LOOK_REVERSE ? A_REVERSE : 0) |
                  (glyph->look & LOOK_UNDERLINE ? A_UNDERLINE : 0);
    cchar_t out;
    setcchar(&out, letters, look, (short)(term.colours && paint.colour >= 0 ? glyph->tint + 1 : 0), NULL);
    mvadd_wchnstr(row, col, &out, 1);
}

static bool has_wide(const struct glyph *line, int cols)
{
    for (int c = 0; c < cols; c++)
        if (!line[c].text[0]) return true;
    return false;
}

static void show_row(const struct cells *cells, int row)
{
    const struct glyph *line = cells->at + (size_t)row * cells->cols, *before = term.shown->at + (size_t)row * cells->cols;
    bool all = has_wide(line, cells->cols) || has_wide(before, cells->cols); /* half a wide letter cannot be drawn alone */
    for (int c = 0; c < cells->cols; c++)
        if ((all && line[c].text[0]) || (!all && memcmp(&line[c], &before[c], sizeof *line) != 0)) put(row, c, &line[c]);
}

void term_show(const struct cells *cells, int cursor_row, int cursor_col)
{
    if (term.shown && (term.shown->rows != cells->rows || term.shown->cols != cells->cols)) term_repaint();
    if (!term.shown) {
        term.shown = cells_new(cells->rows, cells->cols);
        erase();
        clearok(curscr, TRUE);
    }
    for (int r = 0; r < cells->rows; r++) show_row(cells, r);
    memcpy(term.shown->at, cells->at, sizeof *cells->at * (size_t)cells->rows * (size_t)cells->cols);
    curs_set(cursor_row >= 0);
    if (cursor_row >= 0) move(cursor_row, cursor_col);
    refresh();
}
