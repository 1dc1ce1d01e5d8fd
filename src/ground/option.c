#include "ground/option.h"

#include "ground/mem.h"
#include "ground/text.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_number(const char *text, double *value)
{
    char *end;
    if (!*text || strchr(" \t\n\r", *text)) return false;
    *value = strtod(text, &end);
    return !*end && end != text && isfinite(*value);
}

bool parse_int(const char *text, long *value)
{
    char *end;
    if (!*text || strchr(" \t\n\r", *text)) return false;
    errno = 0;
    *value = strtol(text, &end, 10);
    return !*end && end != text && !errno;
}

const struct option *option_find(const struct option *options, const char *name)
{
    for (const struct option *o = options; o && o->name; o++)
        if (!strcmp(o->name, name)) return o;
    return NULL;
}

static const char *option_name(const void *list, size_t i) { return ((const struct option *)list)[i].name; }

static const struct option *sure_option(const struct args *args, const char *name)
{
    const struct option *option = option_find(args->options, name);
    assert(option && "the option stands in the table");
    return option;
}

static bool check(const struct option *o, const char *value, struct err *err)
{
    double number = 0;
    long whole = 0;
    const char *shown = text_show(value);
    if (o->kind == OPTION_CHOICE && !text_among(o->choices, value)) return err_set(err, "%s: '%s' is none of %s", o->name, shown, o->choices);
    if (o->kind == OPTION_INT) {
        if (!parse_int(value, &whole)) return err_set(err, "%s: '%s' is not a whole number", o->name, shown);
        number = (double)whole;
    }
    if (o->kind == OPTION_NUMBER && !parse_number(value, &number)) return err_set(err, "%s: '%s' is not a number", o->name, shown);
    if ((o->kind == OPTION_INT || o->kind == OPTION_NUMBER) && (o->low != 0 || o->high != 0) && (number < o->low || number > o->high))
        return err_set(err, "%s: %s is outside %.15g to %.15g", o->name, shown, o->low, o->high);
    return true;
}

static bool give(struct args *args, const struct option *option, const char *value, struct err *err)
{
    if (!check(option, value, err)) return false;
    if (!option->many)
        for (size_t i = 0; i < args->given_count; i++)
            if (args->given[i].option == option) {
                mem_free(args->given[i].value);
                args->given[i].value = mem_text(value);
                return true;
            }
    mem_grow(&args->given, &args->given_room, args->given_count + 1, sizeof *args->given);
    args->given[args->given_count++] = (struct arg){option, mem_text(value)};
    return true;
}

static bool unknown(const struct option *options, const char *name, const char *dashes, struct err *err)
{
    const char *near = text_nearest(name, option_name, options);
    err_set(err, "unknown option %s%s", dashes, text_show(name));
    if (near) return err_add(err, ": did you mean %s%s?", dashes, near);
    for (const struct option *o = options; o && o->name; o++) err_add(err, "%s%s%s", o == options ? ": there are " : ", ", dashes, o->name);
    return false;
}

bool args_set(struct args *args, const char *name, const char *value, struct err *err)
{
    const struct option *option = option_find(args->options, name);
    return option ? give(args, option, value, err) : unknown(args->options, name, "", err);
}

static const struct option *by_letter(const struct option *options, char letter)
{
    for (const struct option *o = options; o && o->name; o++)
        if (o->letter && o->letter == letter) return o;
    return NULL;
}

/* One option at words[*i]; moves *i over its value. */
static bool parse_option(struct args *args, size_t count, char *const *words, size_t *i, struct err *err)
{
    const char *word = words[*i], *equals = strchr(word, '=');
    const struct option *option;
    char name[64];
    if (word[1] != '-') {
        option = !word[2] ? by_letter(args->options, word[1]) : NULL;
        equals = NULL;
        if (!option) return err_set(err, "unknown option %s", text_show(word));
    } else {
        size_t size = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
        if (size >= sizeof name) return err_set(err, "unknown option %s", text_show(word));
        memcpy(name, word + 2, size);
        name[size] = 0;
        option = option_find(args->options, name);
        if (!option) return unknown(args->options, name, "--", err);
    }
    if (option->kind == OPTION_FLAG) {
        if (equals) return err_set(err, "--%s takes no value", option->name);
        return give(args, option, "1", err);
    }
    if (!equals && *i + 1 >= count) return err_set(err, "--%s needs a value: %s", option->name, option->help);
    if (!give(args, option, equals ? equals + 1 : words[++*i], err)) {
        char text[sizeof err->text];
        if (err) memcpy(text, err->text, sizeof text), err_set(err, "--%s", text);
        return false;
    }
    return true;
}

bool args_parse(struct args *args, const struct option *options, size_t count, char *const *words, struct err *err)
{
    *args = (struct args){.options = options};
    bool only_words = false;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        double number;
        if (!only_words && !strcmp(word, "--")) {
            only_words = true;
        } else if (!only_words && word[0] == '-' && word[1] && !parse_number(word, &number)) {
            if (!parse_option(args, count, words, &i, err)) return args_clear(args), false;
        } else {
            mem_grow(&args->words, &args->word_room, args->word_count + 1, sizeof *args->words);
            args->words[args->word_count++] = mem_text(word);
        }
    }
    return true;
}

bool args_parse_pairs(struct args *args, const struct option *options, const char *pairs, struct err *err)
{
    *args = (struct args){.options = options};
    char *copy = mem_text(pairs ? pairs : ""), *save = NULL;
    bool ok = true;
    for (char *pair = strtok_r(copy, ",", &save); ok && pair; pair = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(pair, '=');
        const struct option *option;
        if (equals) *equals = 0;
        option = option_find(options, pair);
        if (!option) ok = unknown(options, pair, "", err);
        else if (!equals && option->kind != OPTION_FLAG) ok = err_set(err, "%s needs a value: %s=...", pair, pair);
        else ok = give(args, option, equals ? equals + 1 : "1", err);
    }
    mem_free(copy);
    if (!ok) args_clear(args);
    return ok;
}

void args_clear(struct args *args)
{
    for (size_t i = 0; i < args->given_count; i++) mem_free(args->given[i].value);
    for (size_t i = 0; i < args->word_count; i++) mem_free(args->words[i]);
    mem_free(args->given);
    mem_free(args->words);
    *args = (struct args){0};
}

const char *args_at(const struct args *args, const char *name, size_t i)
{
    const struct option *option = sure_option(args, name);
    for (size_t j = 0; j < args->given_count; j++)
        if (args->given[j].option == option && !i--) return args->given[j].value;
    return NULL;
}

bool args_given(const struct args *args, const char *name) { return args_at(args, name, 0) != NULL; }
bool args_flag(const struct args *args, const char *name) { return args_given(args, name); }

const char *args_text(const struct args *args, const char *name)
{
    const char *value = args_at(args, name, 0);
    return value ? value : sure_option(args, name)->fallback;
}

long args_int(const struct args *args, const char *name)
{
    const char *value = args_text(args, name);
    return value ? strtol(value, NULL, 10) : 0;
}

double args_number(const struct args *args, const char *name)
{
    const char *value = args_text(args, name);
    return value ? strtod(value, NULL) : 0;
}

const char *args_word(const struct args *args, size_t i) { return i < args->word_count ? args->words[i] : NULL; }

bool words_split(const char *line, char ***words, size_t *count, struct err *err)
{
    struct text word = {0};
    size_t room = 0;
    bool inside = false;
    char quote = 0;
    *words = NULL;
    *count = 0;
    for (const char *s = line;; s++) {
        if (!quote && (!*s || strchr(" \t\n", *s))) {
            if (inside) {
                mem_grow(words, &room, *count + 1, sizeof **words);
                (*words)[(*count)++] = mem_text(word.data ? word.data : "");
                text_clear(&word);
                inside = false;
            }
            if (!*s) break;
            continue;
        }
        if (!*s) {
            words_free(*words, *count);
            *words = NULL, *count = 0;
            text_clear(&word);
            return err_set(err, "the quote %c is not closed", quote);
        }
        inside = true;
        if (quote == *s) quote = 0;
        else if (!quote && (*s == '\'' || *s == '"')) quote = *s;
        else if (quote != '\'' && *s == '\\' && s[1]) text_add_bytes(&word, ++s, 1);
        else text_add_bytes(&word, s, 1);
    }
    text_clear(&word);
    return true;
}

void words_free(char **words, size_t count)
{
    for (size_t i = 0; i < count; i++) mem_free(words[i]);
    mem_free(words);
}
