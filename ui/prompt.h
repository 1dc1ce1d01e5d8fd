/* The prompt: one line that is edited, with the lines that were entered before.
 *
 *     prompt_set(&prompt, "");
 *     prompt_offer(&prompt, "figures/a.png");          (in place of prompt_set: letters replace it, other keys edit it)
 *     switch (prompt_key(&prompt, key)) { case PROMPT_DONE: run(prompt.line.data); ... }
 *     prompt_draw(&prompt, cells, row, 0, cols, &cursor);
 *     prompt_release(&prompt);
 */
#ifndef PROMPT_H
#define PROMPT_H

#include "figures/cells.h"
#include "ground/text.h"

enum prompt_answer { PROMPT_GOES_ON, PROMPT_DONE, PROMPT_LEFT };

struct prompt {
    struct text line; /* UTF-8, never NULL after prompt_set */
    size_t at;        /* the cursor, a byte between two letters */
    bool offered;     /* nobody has touched the line yet: a letter begins another */
    char **entered;   /* oldest first */
    size_t entered_count, entered_room, recalled;
};

void prompt_set(struct prompt *prompt, const char *line);
void prompt_offer(struct prompt *prompt, const char *line);
void prompt_remember(struct prompt *prompt, const char *line); /* as if it had been entered; a repetition is kept once */
enum prompt_answer prompt_key(struct prompt *prompt, int key);
void prompt_insert(struct prompt *prompt, const char *piece);                                 /* at the cursor */
void prompt_draw(const struct prompt *prompt, struct cells *cells, int row, int col, int width, int *cursor);
void prompt_release(struct prompt *prompt);

#endif
