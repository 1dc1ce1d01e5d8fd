/* Every list of the program on one page, by name alone; what is known about an entry stands in its own file. Lists end with NULL. */
#ifndef REGISTRY_H
#define REGISTRY_H

struct command;
struct family;
struct figure_kind;
struct generator;
struct intervention;
struct probe;
struct replication;
struct view;

extern const struct family *const families[];
extern const struct generator *const generators[];
extern const struct probe *const probes[];
extern const struct intervention *const interventions[];
extern const struct figure_kind *const figure_kinds[];
extern const struct command *const commands[];
extern const struct replication *const replications[];
extern const struct view *const views[];

#endif
