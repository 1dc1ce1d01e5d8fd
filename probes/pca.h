/* The two directions along which rows of numbers spread most: principal components, found by power iteration from the row that lies farthest out.
 *
 *     struct pca pca;
 *     pca_fit(&pca, rows, count, width);              (rows [count, width])
 *     double at[2];
 *     pca_place(&pca, row, at);                       (coordinates of a row, also of one that was not fitted)
 *     pca_release(&pca);
 *
 * The same rows always give the same directions, also their signs: the number of largest size in each is positive. Rows that spread along less
 * than two directions have 0 as the other coordinate. Rows with a number that is not finite take no part, and have no coordinates (NaN).
 */
#ifndef PROBES_PCA_H
#define PROBES_PCA_H

#include <stddef.h>

enum { PCA_AXES = 2 };

struct pca {
    int width;
    double *mean, *axis[PCA_AXES]; /* [width] */
    size_t left_out;               /* rows that are not finite */
    double share[PCA_AXES];        /* of the rows' spread (variance) that lies along each; NaN: they do not spread */
};

void pca_fit(struct pca *pca, const float *rows, size_t count, int width);
void pca_place(const struct pca *pca, const float *row, double out[PCA_AXES]);
void pca_release(struct pca *pca);

#endif
