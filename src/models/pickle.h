/* Python pickles, read as data: nothing in them is looked up, imported or run.
 *
 *     static const struct pickle_global globals[] = {{"collections.OrderedDict", PICKLE_IS_DICT}, {"torch.FloatStorage", PICKLE_IS_NAME}, {0}};
 *     struct pickle pickle;
 *     if (!pickle_read(&pickle, data, size, "x.pt: data.pkl", globals, err)) return false;
 *     const struct pickle_value *value = pickle_get(pickle.root, "model");
 *     pickle_release(&pickle);                      (values and their texts die with it)
 *
 * Only containers, numbers, texts and the globals of the list are accepted; anything else is refused by the name of the opcode or global, with its
 * place. A call of a global is kept as a value of its own (name and arguments) for the caller to make sense of. Values may refer to themselves.
 * Format: CPython's Lib/pickletools.py, protocols 2 to 5.
 */
#ifndef MODELS_PICKLE_H
#define MODELS_PICKLE_H

#include "ground/err.h"
#include "ground/mem.h"

#include <stdint.h>

enum pickle_kind {
    PICKLE_NONE = 1, PICKLE_BOOL, PICKLE_INT, PICKLE_REAL, PICKLE_TEXT, PICKLE_TUPLE, PICKLE_LIST,
    PICKLE_DICT,       /* items: key, value, key, value ...; a key given twice stands twice, the last one counts */
    PICKLE_GLOBAL,     /* text: "module.name" */
    PICKLE_CALL,       /* text: the global's name; items: arguments */
    PICKLE_PERSISTENT, /* items: of the tuple that names something outside the pickle */
};

struct pickle_value {
    enum pickle_kind kind;
    int64_t number;    /* of a whole number or truth value */
    double real;
    const char *text;  /* without NUL bytes inside */
    const struct pickle_value **items;
    size_t count, room;
};

/* What a global of the list may be used for. */
enum pickle_use { PICKLE_IS_NAME = 1 /* stands for itself */, PICKLE_IS_CALLED, PICKLE_IS_DICT /* called without arguments: an empty dict */ };
struct pickle_global { const char *name; enum pickle_use use; };

struct pickle {
    struct arena arena;
    const struct pickle_value *root;
};

bool pickle_read(struct pickle *pickle, const void *data, size_t size, const char *label, const struct pickle_global *globals, struct err *err);
void pickle_release(struct pickle *pickle);

const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key); /* NULL: no dict, or no such key */

#endif
