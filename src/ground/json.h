/* JSON, strictly as in RFC 8259: read into a tree, and written. The only place that knows cJSON.
 *
 *     struct json *json = json_parse(text, size, "config.json", err);   (label is what messages call the text; NULL: no name)
 *     const struct json *eps = json_get(json, "rms_norm_eps");
 *     if (!json_number(eps, &value)) ...
 *     json_free(json);
 *
 * Refused with "LABEL: line L column C in KEY.KEY: ..." (a text of one line has no line number): broken UTF-8, a byte order mark, NUL, control
 * characters in strings, depth over 64, anything behind the value, numbers that are not finite doubles, a key that stands twice in one object
 * (named). An integer is a number written without fraction and exponent: json_int refuses 1.0, 1e3 and "1". Nodes are borrowed from the tree.
 */
#ifndef GROUND_JSON_H
#define GROUND_JSON_H

#include "ground/err.h"
#include "ground/text.h"

#include <stdint.h>

struct json;

struct json *json_parse(const char *text, size_t size, const char *label, struct err *err);
struct json *json_read(const char *path, size_t most, struct err *err); /* file + parse; label is the path's last part */
void json_free(struct json *json);                                     /* the root only; NULL is fine */

const struct json *json_get(const struct json *object, const char *key); /* NULL when json is NULL, no object, or has no such key */
const struct json *json_first(const struct json *container);             /* object or array */
const struct json *json_next(const struct json *node);
size_t json_count(const struct json *container);
const char *json_key(const struct json *node);                           /* inside an object */

bool json_is_object(const struct json *node);
bool json_is_array(const struct json *node);
bool json_is_null(const struct json *node);
bool json_int(const struct json *node, int64_t *value);    /* false: not an integer, or beyond 2^53 */
bool json_number(const struct json *node, double *value);
bool json_bool(const struct json *node, bool *value);
const char *json_string(const struct json *node);           /* NULL: not a string */
const char *json_kind(const struct json *node);             /* "a string", "an object", "missing" ... for messages */

/* Writing: straight into a text, keys in the order given, numbers in the shortest form that reads back the same. */
void json_add_string(struct text *out, const char *string);
void json_add_number(struct text *out, double value);       /* NaN and infinities become null */

#endif
