/* The packages that cells install for their session. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "base/untrusted.h"
#include "environments/interpreter/python_version.h"
#include "environments/notebook/notebook_private.h"
#include "environments/packages/packages_definition.h"
#include "environments/packages/requirement.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
    PACKAGES_NAME_DIGITS = 16,
    PACKAGES_MOST_FILES = 20000, /* looked at; a package may have any number */
    PACKAGES_MOST_WANTED = 200,  /* in a session, in all of its cells */
    PACKAGES_MOST_BEFORE = 8,    /* sets that are kept for one Python */
};

#define DIST_INFO ".dist-info"

/* A Python keeps modules that it has loaded, whose files must stay. */
static int notebook_packages_check_before(const struct notebook_packages *before, struct error *err)
{
    int count = 0;

    for (; before; before = before->before)
        count++;
    if (count < PACKAGES_MOST_BEFORE)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "this session and its copies have installed packages one after the other too "
                     "often: restart it with manage_sessions first");
}

/* A place for packages of NOTEBOOK alone. NULL with ERR. */
static struct notebook_packages *notebook_packages_new(const struct notebook *notebook,
                                                       struct error *err)
{
    const char *annex = working_directory_annex(notebook->directory);
    struct notebook_packages *packages;

    if (notebook_packages_check_before(notebook->packages, err) < 0)
        return NULL;
    if (!annex) {
        error_set(err, ERROR_UNAVAILABLE,
                  "nothing can be installed for sessions in this directory");
        return NULL;
    }
    packages = NEW(struct notebook_packages);
    packages->references = 1;
    packages->directory = working_directory_ref(notebook->directory);
    packages->name = random_digits(PACKAGES_NAME_DIGITS);
    packages->venv = memory_format("%s/%s", annex, packages->name);
    packages->wanted = json_array();
    return packages;
}

void notebook_packages_release(struct notebook_packages *packages)
{
    if (!packages || --packages->references > 0)
        return;
    notebook_packages_release(packages->before);
    working_directory_clear_annex(packages->directory, packages->name);
    working_directory_unref(packages->directory);
    json_decref(packages->wanted);
    free(packages->name);
    free(packages->venv);
    free(packages);
}

/* The modules that the Python of OTHER has loaded may go, unless a copy has them, too. */
void notebook_take_packages(struct notebook *notebook, struct notebook *other)
{
    struct notebook_packages *packages = STEAL_PTR(other->packages);

    notebook_packages_release(STEAL_PTR(other->coming));
    notebook->packages = packages;
    if (packages && packages->references == 1)
        notebook_packages_release(STEAL_PTR(packages->before));
}

void notebook_share_packages(struct notebook *notebook, const struct notebook *other)
{
    notebook->packages = other->packages;
    if (notebook->packages)
        notebook->packages->references++;
}

/* A Python that began without an annex would not see them. */
static int notebook_packages_check(const struct notebook *notebook, struct error *err)
{
    if (!notebook->turn.execution || notebook->has_annex)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "this session began when none could install packages: restart it with "
                     "manage_sessions, or begin another one");
}

/* Packages that only NOTEBOOK has are replaced where they are. A reference for the caller, or NULL.
 */
static struct notebook_packages *notebook_packages_choose(const struct notebook *notebook,
                                                          struct error *err)
{
    struct notebook_packages *packages = notebook->packages;

    if (!packages || packages->references > 1)
        return notebook_packages_new(notebook, err);
    packages->references++;
    return packages;
}

/* MORE replaces requirements of the same names in WANTED. New reference. */
static json_t *notebook_packages_join(const json_t *wanted, const json_t *more)
{
    json_t *all = json_array();
    const json_t *item;
    size_t i;

    json_array_foreach (wanted, i, item) {
        bool is_replaced = false;
        const json_t *other;
        size_t j;
        AUTO_FREE char *name = requirement_name(json_string_value(item));

        json_array_foreach (more, j, other) {
            AUTO_FREE char *another = requirement_name(json_string_value(other));

            is_replaced |= strcmp(name, another) == 0;
        }
        if (!is_replaced)
            json_array_append(all, (json_t *)item);
    }
    packages_definition_add(all, more);
    return all;
}

/* Joins what NOTEBOOK has asked for and the packages of CELL. New reference; NULL with ERR. */
static json_t *notebook_packages_want(const struct notebook *notebook, const struct cell *cell,
                                      struct error *err)
{
    const json_t *wanted = notebook->packages ? notebook->packages->wanted : NULL;
    json_t *all = notebook_packages_join(wanted, cell->request.packages);

    if (json_array_size(all) <= PACKAGES_MOST_WANTED)
        return all;
    error_set(err, ERROR_INVALID_ARGUMENTS, "a session installs at most %d packages",
              PACKAGES_MOST_WANTED);
    json_decref(all);
    return NULL;
}

enum outcome notebook_install(struct notebook *notebook, struct error *err)
{
    struct cell *cell = notebook_current(notebook);
    AUTO_JSON json_t *all = NULL;
    enum outcome outcome;

    if (!cell->request.packages || !cell->request.done)
        return OUTCOME_READY;
    all = notebook_packages_want(notebook, cell, err);
    if (!all || notebook_packages_check(notebook, err) < 0)
        return OUTCOME_FAILED;
    notebook->coming = notebook_packages_choose(notebook, err);
    if (notebook->coming)
        cell->extension =
            cell->request.extend(cell->request.data, notebook->coming->venv, all, err);
    if (!cell->extension)
        return OUTCOME_FAILED;
    outcome = environment_prepare(cell->extension, &notebook->waiter, err);
    if (outcome == OUTCOME_READY)
        notebook_note_packages(notebook);
    return outcome;
}

/* The words about what was installed */

static bool notebook_packages_are_plain(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "._+!-")] == '\0';
}

/* Notes in VERSIONS what ENTRY, the name of a file beside packages, says: "numpy-2.0.dist-info". */
static void notebook_packages_read_entry(json_t *versions, const char *entry)
{
    const size_t length = strlen(entry);
    const char *end = entry + length - strlen(DIST_INFO);
    const char *dash = length > strlen(DIST_INFO) && strcmp(end, DIST_INFO) == 0
                           ? memchr(entry, '-', (size_t)(end - entry))
                           : NULL;
    AUTO_FREE char *own = NULL;
    AUTO_FREE char *name = NULL;

    if (!dash || !notebook_packages_are_plain(entry))
        return;
    own = memory_format("%.*s", (int)(dash - entry), entry);
    name = requirement_name(own);
    json_object_set_new(versions, name, json_stringn(dash + 1, (size_t)(end - dash - 1)));
}

/* The versions of what was installed into the directory SITE, by names. New reference. */
static json_t *notebook_packages_read(const char *site)
{
    json_t *versions = json_object();
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = untrusted_open_directory(AT_FDCWD, site, &ignored);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (!stream)
        return versions;
    (void)STEAL_FD(fd);
    for (int i = 0; i < PACKAGES_MOST_FILES && (entry = readdir(stream)); i++)
        notebook_packages_read_entry(versions, entry->d_name);
    closedir(stream);
    return versions;
}

/* Where they are for the Python of NOTEBOOK. Owned by the caller. */
static char *notebook_packages_site(const struct notebook *notebook)
{
    const struct environment *environment = notebook->environment;
    AUTO_FREE char *minor =
        python_version_minor(text_or_none(environment->ops->python_version(environment)));

    return memory_format("%s/lib/python%s/site-packages", notebook->packages->venv, minor);
}

/* "numpy 2.0, pandas 3.0". Owned by the caller. */
static char *notebook_packages_describe(const struct notebook *notebook, const json_t *packages)
{
    AUTO_FREE char *site = notebook_packages_site(notebook);
    AUTO_JSON json_t *versions = notebook_packages_read(site);
    char *text = memory_copy_string("");
    const json_t *package;
    size_t i;

    json_array_foreach (packages, i, package) {
        AUTO_FREE char *before = text;
        AUTO_FREE char *name = requirement_name(json_string_value(package));
        const char *version = json_object_get_string(versions, name);

        text = memory_format("%s%s%s %s", before, i ? ", " : "", name,
                             version ? version : "(it was there)");
    }
    return text;
}

/* Gives NOTEBOOK its new packages. Its Python may have loaded others before. */
static void notebook_packages_change(struct notebook *notebook)
{
    struct notebook_packages *packages = STEAL_PTR(notebook->coming);

    if (packages == notebook->packages)
        packages->references--; /* the notebook keeps its own */
    else
        packages->before = notebook->packages;
    notebook->packages = packages;
}

void notebook_note_packages(struct notebook *notebook)
{
    struct cell *cell = notebook_current(notebook);
    struct error ignored = ERROR_INIT;
    json_t *all = notebook_packages_want(notebook, cell, &ignored);

    notebook_packages_change(notebook);
    json_decref(notebook->packages->wanted);
    notebook->packages->wanted = all;
    notebook->knows_packages = false;
    cell->installed = notebook_packages_describe(notebook, cell->request.packages);
}
