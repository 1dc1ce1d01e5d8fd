#include "over.h"

#include "ground/mem.h"
#include "ground/option.h"
#include "ground/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 10001 };

static bool stands_twice(const struct over *axis, struct err *err)
{
    for (size_t i = 0; i < axis->count; i++)
        for (size_t j = 0; j < i; j++)
            if (axis->numeric ? axis->numbers[i] == axis->numbers[j] : !strcmp(axis->values[i], axis->values[j]))
                return err_set(err, "--over %s: the value %s stands there twice", axis->name, text_show(axis->values[i])), true;
    return false;
}

static void add(struct over *axis, const char *value)
{
    axis->values = mem_resize(axis->values, sizeof *axis->values * (axis->count + 1));
    axis->numbers = mem_resize(axis->numbers, sizeof *axis->numbers * (axis->count + 1));
    axis->values[axis->count] = mem_text(value);
    double number = NAN;
    if (!parse_number(value, &number)) axis->numeric = false, number = NAN;
    axis->numbers[axis->count++] = number;
}

static bool add_range(struct over *axis, const char *text, struct err *err)
{
    char copy[128], *part[3], *save = NULL;
    double from, to, step;
    snprintf(copy, sizeof copy, "%s", text);
    for (int i = 0; i < 3; i++) part[i] = strtok_r(i ? NULL : copy, ":", &save);
    if (!part[2] || strtok_r(NULL, ":", &save) || !parse_number(part[0], &from) || !parse_number(part[1], &to) || !parse_number(part[2], &step))
        return err_set(err, "--over %s=%s: a range is FROM:TO:STEP, for example 0:1:0.05", axis->name, text_show(text));
    double n = floor((to - from) / step + 0.5);
    if (n >= MOST) return err_set(err, "--over %s=%s: %.0f points, more than %d", axis->name, text_show(text), n + 1, MOST);
    if (!(n >= 0) || fabs(from + n * step - to) > 1e-9 * (fabs(from) + fabs(to) + fabs(step)))
        return err_set(err, "--over %s=%s: steps of %s do not lead from %s to %s", axis->name, text_show(text), part[2], part[0], part[1]);
    for (long i = 0; i <= (long)n; i++) {
        char value[40];
        double x = n > 0 ? from + (to - from) * (double)i / n : from;
        for (int digits = 6; digits <= 17; digits++) { /* the shortest text that is this point */
            snprintf(value, sizeof value, "%.*g", digits, x);
            if (fabs(strtod(value, NULL) - x) <= 1e-12 * fabs(x)) break;
        }
        add(axis, value);
    }
    return true;
}

bool over_parse(struct over *axis, const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');
    *axis = (struct over){.numeric = true};
    if (!equals || equals == text || !equals[1]) return err_set(err, "--over %s: the form is NAME=FROM:TO:STEP or NAME=A,B,C", text_show(text));
    axis->name = mem_text(text);
    axis->name[equals - text] = 0;
    bool ok = true;
    if (strchr(equals + 1, ':')) {
        ok = add_range(axis, equals + 1, err);
    } else {
        char *copy = mem_text(equals + 1), *save = NULL;
        for (char *value = strtok_r(copy, ",", &save); value; value = strtok_r(NULL, ",", &save)) add(axis, value);
        mem_free(copy);
        ok = !stands_twice(axis, err);
    }
    if (!ok) over_clear(axis);
    return ok;
}

void over_clear(struct over *axis)
{
    for (size_t i = 0; i < axis->count; i++) mem_free(axis->values[i]);
    mem_free(axis->values);
    mem_free(axis->numbers);
    mem_free(axis->name);
    *axis = (struct over){0};
}
