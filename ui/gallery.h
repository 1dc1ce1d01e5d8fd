/* Figures that were exported: those in figures/ and those of this session, with the table of the picked one for a preview.
 *
 *     gallery_look(&gallery);                              (reads the folder again)
 *     const struct table *table = gallery_table(&gallery, at, &wrong);
 *     gallery_export(&gallery, at, &options, "figures/a.svg", &line, &err);
 */
#ifndef GALLERY_H
#define GALLERY_H

#include "figures/figure.h"

struct gallery {
    const char *folder;    /* NULL: figures */
    char **paths;          /* sorted */
    size_t count, room;
    char **extra;          /* written by this session outside of figures/ */
    size_t extra_count, extra_room;
    char *loaded, *wrong;  /* which path the table is of; why there is none */
    struct table *table;
};

void gallery_look(struct gallery *gallery);
void gallery_add(struct gallery *gallery, const char *path);
void gallery_release(struct gallery *gallery);

const struct table *gallery_table(struct gallery *gallery, size_t at, const char **wrong); /* NULL: wrong says why */

/* Draws the picked one's table again, and says the command line that makes the same file. */
bool gallery_export(struct gallery *gallery, size_t at, const struct figure_options *options, const char *path, struct text *line, struct err *err);

#endif
