/* A recipe: everything that decides a training run, as lines of "key = value" ("#" begins a comment).
 *
 *     data = two-hop-small
 *     model.model_type = looped             keys with "model." become the model's config.json
 *     model.hidden_size = 256               (vocab_size is the dataset's unless given)
 *     lr = 0.002                            the others are the trainer's options: recipe_options lists them
 *
 *     struct recipe recipe;
 *     if (!recipe_read(&recipe, "models/vanilla/recipe", err)) return false;
 *     recipe_set(&recipe, "seed=3", err);
 *     recipe_clear(&recipe);
 */
#ifndef LEARNING_RECIPE_H
#define LEARNING_RECIPE_H

#include "ground/option.h"
#include "ground/text.h"

extern const struct option recipe_options[];

struct recipe {
    struct args args;       /* by recipe_options */
    struct setting { char *key, *value; } *model; /* without "model." */
    size_t model_count, model_room;
};

bool recipe_read(struct recipe *recipe, const char *path, struct err *err);
bool recipe_set(struct recipe *recipe, const char *assignment, struct err *err); /* "key=value" */
void recipe_clear(struct recipe *recipe);

void recipe_text(const struct recipe *recipe, struct text *out);                  /* the same recipe as lines */
void recipe_config(const struct recipe *recipe, int vocab_size, struct text *out); /* config.json */

#endif
