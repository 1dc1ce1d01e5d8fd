#include "registry.h"

#include <stddef.h>

/* A row is declared by its name and listed once. */
#define FAMILIES(row) row(looped) row(ouro) row(loopformer) row(huginn) row(parcae) row(rlt) row(openmythos)
#define GENERATORS(row) row(khop) row(language)
#define PROBES(row) row(eval) row(bridge) row(drift) row(fade) row(attention) row(stats)
#define INTERVENTIONS(row) row(mix)
#define FIGURES(row) row(scatter) row(curve)
#define COMMANDS(row)                                                                                                                                \
    row(help) row(info) row(models) row(data) row(train) row(runs) row(seeds) row(pause) row(synth) row(convert) row(sites) row(lens) row(questions) \
        row(sweep) row(flips) row(orbit) row(timeline) row(compare) row(selftest) row(paths) row(ratio) row(bench) row(card) row(log) row(overhead)  \
            row(replicate) row(plot) row(vocab) row(replay) row(view) row(session)
#define REPLICATIONS(row)                                                                                                                            \
    row(table_1a) row(table_1b) row(figure_2) row(figure_3) row(drift) row(embedding) row(gate) row(control) row(overhead) row(figure_4)             \
        row(figure_5) row(figure_6) row(depth)
#define VIEWS(row)                                                                                                                                   \
    row(models) row(loops) row(splits) row(grid) row(intervene) row(questions) row(bridge) row(figures) row(log) row(attention) row(orbit)           \
        row(train) row(compare) row(replicate) row(help) row(output)

#define LIST(type, list, prefix, ROWS) \
    ROWS(DECLARE_##prefix) \
    const struct type *const list[] = {ROWS(NAME_##prefix) NULL};

#define DECLARE_family(name) extern const struct family family_##name;
#define NAME_family(name) &family_##name,
#define DECLARE_generator(name) extern const struct generator generator_##name;
#define NAME_generator(name) &generator_##name,
#define DECLARE_probe(name) extern const struct probe probe_##name;
#define NAME_probe(name) &probe_##name,
#define DECLARE_intervention(name) extern const struct intervention intervention_##name;
#define NAME_intervention(name) &intervention_##name,
#define DECLARE_figure(name) extern const struct figure_kind figure_##name;
#define NAME_figure(name) &figure_##name,
#define DECLARE_command(name) extern const struct command command_##name;
#define NAME_command(name) &command_##name,
#define DECLARE_replication(name) extern const struct replication replication_##name;
#define NAME_replication(name) &replication_##name,
#define DECLARE_view(name) extern const struct view view_##name;
#define NAME_view(name) &view_##name,

LIST(family, families, family, FAMILIES)
LIST(generator, generators, generator, GENERATORS)
LIST(probe, probes, probe, PROBES)
LIST(intervention, interventions, intervention, INTERVENTIONS)
LIST(figure_kind, figure_kinds, figure, FIGURES)
LIST(command, commands, command, COMMANDS)
LIST(replication, replications, replication, REPLICATIONS)
LIST(view, views, view, VIEWS)
