/* The settings of every environment, whatever its kind.
 *
 * One table has a row for each setting: the key by which the definition of an environment or the
 * whole configuration sets it, and its place in the struct. Reading, comparison, the digest and the
 * bounds of callers walk that table. */
#pragma once

#include "base/digest.h"
#include "environments/process/process.h"
#include "environments/sandbox_settings.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a person has to agree before a script runs. */
enum approval_policy {
    APPROVAL_NEVER,
    APPROVAL_FIRST, /* before the first script of a caller in an environment */
    APPROVAL_ALWAYS,
};

/* How the pictures that a script leaves are shown. */
enum images_policy {
    IMAGES_INLINE, /* results show them */
    IMAGES_FILE,   /* they are files like others */
    IMAGES_OFF,    /* they are files like others; and only the script itself saves any */
};

/* Whether runs are started ahead of their code. */
enum start_policy {
    START_WARM,  /* the next run may be started before there is code for it, as a copy of a
                    Python */
    START_FRESH, /* the next run may be started before there is code for it, but not as a copy */
    START_COLD,  /* each run is started for its code */
};

/* When an environment is prepared. */
enum prepare_policy {
    PREPARE_LAZY,  /* on the first call that needs it */
    PREPARE_EAGER, /* when the server starts */
};

struct environment_settings {
    double timeout;         /* seconds, for a call that names none */
    double max_timeout;     /* seconds, the most a call may ask for */
    double prepare_timeout; /* seconds a preparation may take; 0: as long as it wants */
    enum prepare_policy prepare;
    enum approval_policy approval; /* the tools apply it, and the next */
    enum images_policy images;
    enum start_policy start;
    struct process_limits limits; /* file_size is as much as `disk` */
    struct sandbox_settings sandbox;
    double cpus;      /* processors that a container may use */
    uint64_t disk;    /* bytes the working directory may grow by in a run */
    uint64_t output;  /* bytes kept of each stream */
    char **variables; /* NULL-terminated NAME=VALUE, the operator's; owned */
    char **tools;     /* NULL-terminated names of servers whose tools a run may call; owned */
    char *functions;  /* owned: the source of a module that scripts can import, or NULL */
    char **paths;     /* owned: the real paths that a call has named, or NULL; a run fails if any of
                         them has become a link */
};

enum setting_kind {
    SETTING_NUMBER, /* double */
    SETTING_BYTES,  /* uint64_t */
    SETTING_COUNT,  /* unsigned */
    SETTING_WORD,   /* an enum; the configuration has its words */
    SETTING_FLAG,   /* bool */
    SETTING_TEXT,   /* char *, or NULL for "" */
};

/* A row of the table. */
struct environment_setting {
    const char *section; /* the key of the object that has KEY; or NULL: the definition itself */
    const char *key;     /* NULL: other functions read this setting */
    enum setting_kind kind;
    size_t offset;            /* in struct environment_settings */
    const char *const *words; /* of SETTING_WORD: by value, NULL-terminated; else NULL */
};

/* Row INDEX of the table, static storage; or NULL: there are no more. */
const struct environment_setting *environment_setting_at(size_t index);

/* The value of SETTING in SETTINGS, of any kind but SETTING_TEXT. */
double environment_setting_number(const struct environment_setting *setting,
                                  const struct environment_settings *settings);

/* Reads DEFINITION, which fits its schema and may be the whole configuration. A setting that is not
 * in it stays as it is in SETTINGS. */
void environment_settings_read(struct environment_settings *settings, const json_t *definition);

/* True if the member KEY of a whole configuration is a setting, or holds settings. */
bool environment_settings_have(const char *key);

/* The word that the configuration has for POLICY. */
const char *approval_policy_name(enum approval_policy policy);

/* Compares everything but variables, tools and paths, which come from the definition. */
bool environment_settings_are_equal(const struct environment_settings *a,
                                    const struct environment_settings *b);

/* A digest of DEFINITION and SETTINGS. Equal definitions with settings that are equal in the sense
 * of environment_settings_are_equal have the same one. */
void environment_digest(const json_t *definition, const struct environment_settings *settings,
                        char ret_text[DIGEST_TEXT_BYTES]);

/* A copy that owns its members. */
struct environment_settings environment_settings_copy(const struct environment_settings *settings);

/* Frees the members that SETTINGS own. */
void environment_settings_deinit(struct environment_settings *settings);
