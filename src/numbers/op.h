/* The ops: coarse, fused where it pays, each with its gradient. Letters: N rows, D width, V vocabulary, F MLP width, H heads, E head size.
 *
 * Every op reads its sources, returns a new tensor in the tape's arena and, when the tape records, leaves a node. Shapes are checked by assert:
 * they are wrong only when we are.
 */
#ifndef NUMBERS_OP_H
#define NUMBERS_OP_H

#include "numbers/tape.h"

/* ops_rows.c: whole rows as they are, taken and put */
struct tensor *op_embed(struct tape *tape, const struct weight *table, const int *tokens, int n); /* table rows: [n, D] */
struct tensor *op_select(struct tape *tape, struct tensor *x, const int *rows, int n);            /* x rows: [n, D] */
void op_put(struct tape *tape, struct tensor *into, struct tensor *x, const int *rows); /* into[rows[i]] = x[i], each row put once */
struct tensor *op_choose(struct tape *tape, struct tensor *const *from, const int *which, int n);
        /* row i of from[which[i]]: [n, D] */

/* ops_shape.c: the same numbers otherwise arranged. For op_cut_heads and op_join_heads a tensor [N, H*E] is H heads of E columns. */
struct tensor *op_reshape(struct tape *tape, struct tensor *x, int rows, int cols); /* in the memory of x, which is not used again */
struct tensor *op_detach(struct tape *tape, const struct tensor *x);                /* in the memory of x; no gradient goes behind it */
struct tensor *op_columns(struct tape *tape, struct tensor *x, int from, int n);    /* columns from ... from+n-1: [N, n] */
struct tensor *op_cut_heads(struct tape *tape, struct tensor *x, int heads, int from, int n); /* the same of each head: [N, H*n] */
struct tensor *op_join(struct tape *tape, struct tensor *a, struct tensor *b);      /* [a ; b], columns side by side */
struct tensor *op_join_heads(struct tape *tape, struct tensor *a, struct tensor *b, int heads, int right);
        /* each head of a, then `right` columns of b: [N, H*(E+right)]; b [N, H*right], or [N, right]: the same for all heads */

/* ops_linear.c: what learnt matrices and vectors make of each row */
struct tensor *op_linear(struct tape *tape, struct tensor *x, const struct weight *w, struct tensor *add);
        /* x w^T (+ add, the residual; not used again after): [N, out] */
struct tensor *op_bias(struct tape *tape, struct tensor *x, const struct weight *bias); /* x + b, [N, D] */
struct tensor *op_gate(struct tape *tape, struct tensor *x, const struct weight *w, const struct weight *bias);
        /* sigmoid(w . x + b): [N, 1]; w is (1, D) */
struct lora { const struct weight *down, *scale, *up; }; /* (r, D), (rows, r), (r, D) */
struct tensor *op_lora(struct tape *tape, struct tensor *x, const struct lora *lora, int row);
        /* x + ((x down^T) * scale[row]) up: [N, D]. Hu et al. 2021, arXiv 2106.09685; Bae et al. 2024, arXiv 2410.20672 */

/* ops_point.c: a function of each number */
struct tensor *op_sigmoid(struct tape *tape, struct tensor *x);
struct tensor *op_silu(struct tape *tape, struct tensor *x);               /* x sigmoid(x) */
struct tensor *op_gelu(struct tape *tape, struct tensor *x);               /* x Phi(x), exact (erf) */
struct tensor *op_relu2(struct tape *tape, struct tensor *x);              /* relu(x)^2 / 2 */
struct tensor *op_scale(struct tape *tape, struct tensor *x, float by);    /* by x */
struct tensor *op_softcap(struct tape *tape, struct tensor *x, float cap); /* cap tanh(x / cap) */

/* ops_mix.c: sums of two tensors [N, D], the second one weighed (rows of weights, adaptive norms: Peebles and Xie 2022, arXiv 2212.09748) */
struct tensor *op_constant(struct tape *tape, const struct tensor *x, float value); /* one number for each row of x: [N, 1] */
struct tensor *op_shift(struct tape *tape, struct tensor *x, const float *row);     /* x + row in every row; row carries no gradient */
struct tensor *op_mix(struct tape *tape, struct tensor *x, struct tensor *y, struct tensor *weight); /* x + w y; w [N, 1], or NULL: 1 */
struct tensor *op_add_gated(struct tape *tape, struct tensor *x, struct tensor *y, struct tensor *gate); /* x + g y; g [1, D] */
struct tensor *op_modulate(struct tape *tape, struct tensor *x, struct tensor *scale);                   /* x (1 + s); s [1, D] */
struct tensor *op_gated(struct tape *tape, struct tensor *x, struct tensor *gate, struct tensor *y, float scale); /* x + scale g y; g [N, D] */
struct tensor *op_gate_heads(struct tape *tape, struct tensor *x, struct tensor *gate, struct tensor *y);
        /* x + 2 sigmoid(g) y by head: x and y [N, H*E], g [N, H] */

/* ops_norm.c: x / sqrt(mean(x^2) + eps) * gain; gain NULL: 1. Zhang and Sennrich 2019, arXiv 1910.07467 */
struct tensor *op_rms_norm(struct tape *tape, struct tensor *x, const struct weight *gain, float eps);

/* ops_attention.c: rotary positions (Su et al. 2021, arXiv 2104.09864), in place; in the split-half layout unless rope.pairs is set. */
struct rope {
    int half;            /* E / 2 */
    const float *cos, *sin; /* [positions, half] */
    bool pairs;          /* turns neighbours (2i, 2i+1) instead of (i, half+i) */
};
struct rope rope_new(struct arena *arena, int positions, int head_dim, double theta);
struct tensor *op_rope(struct tape *tape, struct tensor *x, const struct rope *rope, const int *positions);

/* Causal attention over packed rows. Query row i reads the key/value rows kv[first[i]] ... kv[first[i+1]-1]; an entry j >= 0 is row j of k and v,
 * an entry j < 0 is row ~j of a stored pair (old_k, old_v) that carries no gradient. Query head h reads key/value head h / (H / H_kv). */
struct reach {
    const int *first, *kv;
    const float *old_k, *old_v;
};
struct heads {
    int count, kv_count, size;
    int window; /* for run_attend: a query sees this many keys, its own the last of them; 0: all before it */
    int value;  /* size of a value head and of what leaves a head; 0: the same as size */
};
struct tensor *op_attention(struct tape *tape, struct tensor *q, struct tensor *k, struct tensor *v, const struct reach *reach, struct heads heads,
                            struct tensor **pattern);
/* [N, H*E_v]; pattern, when asked for (may be NULL): [H, first[N]] probabilities in number, places those of q; they lie query by query: H runs over
 * its keys */

/* ops_mlp.c: silu(g) * u, [N, F]; g and u are not used again. Shazeer 2020, arXiv 2002.05202 */
struct tensor *op_swiglu(struct tape *tape, struct tensor *g, struct tensor *u);

/* ops_inject.c: states that decay, each dimension at its own pace, while something is added */
struct inject { const struct weight *log_a, *log_dt, *b; }; /* (D), (1), (D) */
struct tensor *op_inject(struct tape *tape, struct tensor *h, struct tensor *e, struct tensor *y, const struct inject *inject);
        /* A h + b e + y with A = exp(-exp(clamp(log_dt + log_a, -20, 20))): [N, D] */
struct tensor *op_decay(struct tape *tape, struct tensor *h, struct tensor *u, const struct weight *a_log, const struct weight *dt_bias);
        /* h exp(-dt exp(a)) + dt u by dimension, dt = softplus(bias): a diagonal state-space step (Gu and Dao 2023, arXiv 2312.00752) */

/* ops_halt.c: adaptive computation time (Graves 2016, arXiv 1603.08983). p[0..loops) are halting probabilities [N, 1]. A position halts in the
 * first loop in which their sum reaches the threshold; it weighs p_k before that, what is missing to 1 there, and 0 behind. w[0..loops) receives the
 * weights [N, 1], the result [N, 1] is the halting loop, from 1; 0: never. p and w must live as long as the tape. */
struct tensor *op_halt(struct tape *tape, struct tensor *const *p, int loops, float threshold, struct tensor **w);
struct tensor *op_weigh(struct tape *tape, struct tensor *const *h, struct tensor *const *w, int count); /* sum_k w_k h_k: [N, D]; w_k [N, 1] */

/* ops_experts.c: mixture of experts. The k experts with the largest logit + bias are chosen; their gates are the softmax over their bare logits. */
struct tensor *op_route(struct tape *tape, struct tensor *logits, const struct weight *bias, int k, const int **chosen);
        /* [N, k] gates; chosen: [N, k] expert numbers, rising in each row */
struct part {
    struct tensor *y;
    const int *rows, *gates;
}; /* an expert's output [n, D]; for each of its rows the row it came from, its gate's place */
struct tensor *op_combine(struct tape *tape, struct tensor *x, struct tensor *gates, const struct part *parts, int count);
        /* x + gate y for every row of every part: [N, D]; parts must live as long as the tape */

/* ops_soft.c: a mix of table rows by the probabilities of their tokens */
struct soft {
    float tau;
    int top_k;          /* 0: all tokens */
    bool renormalize;   /* top_k: softmax over the kept logits alone; otherwise their full-softmax probabilities */
};
struct tensor *op_soft_embed(struct tape *tape, struct tensor *x, const struct weight *head, const struct weight *table, struct soft soft);
        /* sum_v p_v table[v] with p = softmax(x head^T / tau), cut to the top_k: [N, D] */

/* ops_loss.c: adds sum_i weights[i] * -log softmax(logits_i)[targets[i]] to *loss; on the way back the logits receive its gradient. Rows of weight 0
 * are skipped; a logit that is not finite makes the loss NaN. */
void op_cross_entropy(struct tape *tape, struct tensor *logits, const int *targets, const float *weights, double *loss);

#endif
