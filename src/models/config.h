/* A model's config.json, read key by key; it remembers what was asked for, so that unknown keys, defaults and mistakes can be named.
 *
 *     struct config *config = config_read("models/x/config.json", err);
 *     int width = config_int(config, "hidden_size|n_embd|d_model", 1, 1 << 20);
 *     double eps = config_number_or(config, "rms_norm_eps", 1e-6);
 *     const char *kind = config_choice(config, "loop_interface.kind", "none|discoloop|ponder|ponder_sum");
 *     if (!config_check(config, sink, err)) return false;      (all mistakes at once; unknown keys become notes)
 *
 * A key may have several accepted spellings, joined by |; two spellings with different values are a mistake. A dot goes into a nested object.
 * Reading never fails at once: a mistake is kept for config_check and a harmless value (the low bound, the first choice, ...) is returned.
 * The *_or forms use a default when the key is absent and note "KEY is not given: default VALUE"; a default of a default is not noted by
 * the *_quiet forms (keys whose absence is normal, such as head_dim).
 */
#ifndef MODELS_CONFIG_H
#define MODELS_CONFIG_H

#include "ground/err.h"
#include "ground/json.h"
#include "results/sink.h"

struct config;

struct config *config_read(const char *path, struct err *err);
struct config *config_parse(const char *text, const char *label, struct err *err); /* for recipes and tests */
void config_free(struct config *config);

long config_int(struct config *config, const char *keys, long low, long high);
long config_int_or(struct config *config, const char *keys, long low, long high, long fallback);
long config_int_quiet(struct config *config, const char *keys, long low, long high, long fallback);
double config_number(struct config *config, const char *keys);                       /* finite */
double config_number_or(struct config *config, const char *keys, double fallback);
double config_number_quiet(struct config *config, const char *keys, double fallback);
bool config_bool_or(struct config *config, const char *keys, bool fallback);
bool config_bool_quiet(struct config *config, const char *keys, bool fallback);
const char *config_choice(struct config *config, const char *keys, const char *choices);    /* "a|b|c" */
const char *config_choice_or(struct config *config, const char *keys, const char *choices, const char *fallback);
const char *config_choice_quiet(struct config *config, const char *keys, const char *choices, const char *fallback);
bool config_has(struct config *config, const char *keys);                            /* counts as asking */
const struct json *config_json(struct config *config, const char *key);              /* raw node, counts as asking; NULL: absent */
void config_known(struct config *config, const char *keys);                          /* keys that are fine and mean nothing to us */

/* A mistake found by the caller: "hidden_size", "must be divisible by ..." */
void config_wrong(struct config *config, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool config_check(struct config *config, struct sink *sink, struct err *err);

/* What was read, in order, for `info`: key, value as text, and where it came from. */
struct config_fact { char *key, *value; const char *source; }; /* source: "config", "default", or "usual": not there, as in most */
size_t config_facts(const struct config *config, const struct config_fact **facts);

const char *config_text(const struct config *config); /* the whole file, as read */
const char *config_path(const struct config *config);

#endif
