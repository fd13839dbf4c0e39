/* The JSON Schemas (draft 2020-12) of this folder, compiled into the program. */
#pragma once

/* The text of schemas/NAME.json, with the schemas of other files that it refers to copied into its
 * $defs; static storage. NULL when there is no such file. */
const char *schemas_find(const char *name);

/* The default of `limits.cpus` in environment.docker.json; no key of the whole server sets it. */
extern const double schemas_default_cpus;
