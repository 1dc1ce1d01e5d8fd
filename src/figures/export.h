/* Figures as files, with what is needed to trust them: beside FILE.png stand FILE.tsv (the table) and FILE.txt (caption, command, hashes).
 *
 *     struct figure_options options = {.dpi = 300};
 *     if (!figure_export(table, &options, "curve.png", err)) return false;
 *
 * The file's ending says the format: .png, .svg or .pdf. The same table and options give the same bytes, whatever the name of the file; the hash in
 * it is that of the table as --tsv prints it. Nothing is written when the figure cannot be made, and a .tsv or .txt of someone else is never
 * overwritten.
 */
#ifndef FIGURES_EXPORT_H
#define FIGURES_EXPORT_H

#include "figures/figure.h"

bool figure_export(const struct table *table, const struct figure_options *options, const char *path, struct err *err);

/* Could it be written there? Asked before long work: the ending, the folder, and what stands beside it. */
bool figure_may_export(const char *path, struct err *err);

/* Where every text of the figure stands: a table of what, text, left, top, right, bottom in pixels, NULL on failure. */
struct table *figure_layout(const struct table *table, const struct figure_options *options, struct err *err);

#endif
