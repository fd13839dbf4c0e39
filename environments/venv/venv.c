#include "environments/venv/venv.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/state.h"
#include "base/text.h"
#include "environments/instance.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/base_search.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/python_places.h"
#include "environments/interpreter/python_version.h"
#include "environments/interpreter/search_path.h"
#include "environments/local.h"
#include "environments/reach.h"
#include "environments/venv/builder.h"
#include "environments/venv/definition.h"
#include "environments/venv/parent.h"
#include "environments/venv/place.h"
#include "environments/venv/search.h"
#include "environments/venv/sweep.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOOKS = 5 }; /* until a venv that others change all the time is given up */

enum venv_state {
    VENV_UNPREPARED,
    VENV_SEARCHING, /* looks whether a usable venv is there */
    VENV_CHOOSING,  /* searches the Python that a new one is made from */
    VENV_BUILDING,  /* makes the venv, or installs packages into it; then looks again */
    VENV_PREPARED,
};

static const struct state venv_states[] = {
    [VENV_UNPREPARED] = {"unprepared", 1 << VENV_SEARCHING},
    [VENV_SEARCHING] = {"searching", 1 << VENV_PREPARED | 1 << VENV_CHOOSING | 1 << VENV_BUILDING |
                                         1 << VENV_UNPREPARED},
    [VENV_CHOOSING] = {"choosing", 1 << VENV_BUILDING | 1 << VENV_UNPREPARED},
    [VENV_BUILDING] = {"building", 1 << VENV_SEARCHING | 1 << VENV_UNPREPARED},
    [VENV_PREPARED] = {"prepared", 1 << VENV_SEARCHING},
};

struct venv_environment {
    struct environment environment;
    struct venv_definition definition;
    char *folder;     /* owned; the state directory */
    char *state_name; /* owned; the name of the state directory */
    enum venv_state state;

    /* The venv that scripts run with; current once prepared. */
    struct venv_packages packages;
    struct venv_place place;
    char *parent;  /* owned; the venv whose packages it shows (parent.h); or NULL */
    char *version; /* owned; of the Python */
    char **needs;  /* owned; see python_needs.h */
    struct file_identity python_file;
    struct file_identity parent_file; /* of the parent's settings */
    int in_use;                       /* owned; the venv, locked against being swept; -1 */

    /* The preparation under way. */
    unsigned looks;
    struct venv_search search;
    struct base_search base;
    char *origin;                 /* owned; what the base is searched by if the venv is there */
    struct venv_builder *builder; /* borrowed: the present builder, or NULL */

    struct list builders; /* of struct venv_builder: also builders that were given up */
    struct venv_sweep sweep;
};

static struct venv_environment *venv_of(struct environment *environment)
{
    return CONTAINER_OF(environment, struct venv_environment, environment);
}

static const struct venv_environment *const_venv_of(const struct environment *environment)
{
    return CONTAINER_OF(environment, const struct venv_environment, environment);
}

static void venv_note_use(const struct venv_environment *venv)
{
    venv_sweep_note_use(venv->place.path,
                        venv->definition.extends ? VENV_KEPT_BRIEFLY : VENV_KEPT_SECONDS);
}

/* The lock and the note of use protect the venv from sweeps. */
static void venv_hold(struct venv_environment *venv)
{
    venv->in_use = open(venv->place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (venv->in_use < 0)
        return;
    (void)flock(venv->in_use, LOCK_SH | LOCK_NB);
    venv_note_use(venv);
}

static void venv_leave(struct venv_environment *venv)
{
    if (venv->in_use < 0)
        return;
    venv_note_use(venv);
    close(venv->in_use);
    venv->in_use = -1;
}

static void venv_set_state(struct venv_environment *venv, enum venv_state state)
{
    state_change(venv_states, venv->state, state, "venv %s", venv->environment.name);
    venv->state = state;
    if (state == VENV_SEARCHING)
        venv_leave(venv);
    if (state == VENV_PREPARED && venv->place.is_ours)
        venv_hold(venv);
    if (state != VENV_CHOOSING && state != VENV_BUILDING)
        base_search_cancel(&venv->base);
}

/* The preparation */

static enum outcome venv_look(struct venv_environment *venv, struct error *err);

/* Notes in the state if OUTCOME is a failure. */
static enum outcome venv_note(struct venv_environment *venv, enum outcome outcome)
{
    if (outcome == OUTCOME_FAILED)
        venv_set_state(venv, VENV_UNPREPARED);
    return outcome;
}

/* Goes on after a pending step with OUTCOME. */
static void venv_go_on(struct venv_environment *venv, enum outcome outcome, const struct error *err)
{
    if (venv_note(venv, outcome) != OUTCOME_PENDING)
        environment_end_preparation(&venv->environment, outcome == OUTCOME_FAILED ? err : NULL);
}

/* A new venv is looked at like any other venv: another server may have been faster. */
static void venv_on_built(struct venv_builder *builder, const struct error *failure)
{
    struct venv_environment *venv = venv_of(builder->plan.environment);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    venv->builder = NULL;
    if (failure)
        venv_go_on(venv, OUTCOME_FAILED, failure);
    else
        venv_go_on(venv, venv_look(venv, &err), &err);
}

static enum outcome venv_build(struct venv_environment *venv)
{
    const struct venv_definition *definition = &venv->definition;
    const struct venv_plan plan = {
        .environment = &venv->environment,
        .holding = environment_holding(&venv->environment, venv->folder),
        .state = venv->folder,
        .key = venv->place.key,
        .path = venv->place.path,
        .kept = venv->place.kept,
        .aside = venv->place.aside,
        .finding = venv->search.finding,
        .parent = venv->parent,
        .system_site_packages =
            venv->parent ? venv_parent_shows_base(venv->parent) : definition->system_site_packages,
        .base = venv->base.base,
        .interpreter = venv->base.interpreter,
        .version = venv->search.version,
        .directories = venv->search.directories,
        .requirements = &venv->packages.requirements,
        .packages = *venv->packages.digest ? venv->packages.digest : NULL,
        .index_url = definition->packages.pip_index_url,
        .find_links = definition->packages.pip_find_links,
        .allow_source_builds = definition->packages.allow_source_builds,
    };

    venv_set_state(venv, VENV_BUILDING);
    venv->builder = venv_builder_start(&plan, &venv->builders, venv_on_built);
    return OUTCOME_PENDING;
}

/* The installer runs in the Python that was found, so that must be none that packages can have
 * written. */
static enum outcome venv_build_with_base(struct venv_environment *venv, struct error *err)
{
    const struct base_search *search = &venv->base;
    const char *python = search->base ? search->base->executable : search->interpreter->executable;

    if (!search_path_lies_in(python, venv->place.path))
        return venv_build(venv);
    return (enum outcome)error_set(
        err, ERROR_UNAVAILABLE,
        "packages are not installed by the Python %s, which they could have changed, and this "
        "machine has no other one of its version: leave out venv_path or pip_packages",
        python);
}

static void venv_on_base_found(struct base_search *search, const struct error *failure)
{
    struct venv_environment *venv = CONTAINER_OF(search, struct venv_environment, base);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (failure)
        venv_go_on(venv, OUTCOME_FAILED, failure);
    else
        venv_go_on(venv, venv_build_with_base(venv, &err), &err);
}

/* Starts the search for the base by PATH or, if that is NULL, by VERSION. */
static enum outcome venv_choose(struct venv_environment *venv, const char *path,
                                const char *version, struct error *err)
{
    enum outcome outcome;

    venv_set_state(venv, VENV_CHOOSING);
    environment_step(&venv->environment, -1, "finding python%s%s", version && !path ? " " : "",
                     path ? "" : text_or_none(version));
    venv->base.path = path;
    venv->base.version = version;
    venv->base.holding = environment_holding(&venv->environment, venv->folder);
    outcome = base_search_start(&venv->base, err);
    return outcome == OUTCOME_READY ? venv_build_with_base(venv, err) : outcome;
}

/* A new venv is made from the Python that the definition asks for. */
static enum outcome venv_create(struct venv_environment *venv, struct error *err)
{
    const struct venv_definition *definition = &venv->definition;

    if (venv_place_prepare(&venv->place, venv->state_name, err) < 0)
        return OUTCOME_FAILED;
    return venv_choose(venv, definition->python_path, definition->python_version, err);
}

/* The installer runs in the Python that the venv was made from: bin/python leads to it. If that
 * lies in the venv itself, packages can have changed it, and the search is for its version. */
static enum outcome venv_complete(struct venv_environment *venv, struct error *err)
{
    AUTO_FREE char *real = realpath(venv->place.python, NULL);
    const bool is_outside = real && !search_path_lies_in(real, venv->place.path);

    free(venv->origin);
    venv->origin = is_outside ? STEAL_PTR(real) : python_version_minor(venv->search.version);
    return venv_choose(venv, is_outside ? venv->origin : NULL, is_outside ? NULL : venv->origin,
                       err);
}

static enum outcome venv_become_prepared(struct venv_environment *venv)
{
    free(venv->version);
    venv->version = memory_copy_string(venv->search.version);
    memory_free_strings(venv->needs);
    venv->needs = python_needs_find_with_parent(
        venv->place.python, venv->parent ? venv->definition.python_path : NULL,
        (const char *const *)venv->search.directories, venv->folder);
    file_identity_read(&venv->python_file, venv->place.python);
    if (venv->parent)
        venv_parent_identify(venv->parent, &venv->parent_file);
    venv_set_state(venv, VENV_PREPARED);
    return OUTCOME_READY;
}

static enum outcome venv_act_on_finding(struct venv_environment *venv, struct error *err)
{
    switch (venv->search.finding) {
    case VENV_USABLE:
        return venv_become_prepared(venv);
    case VENV_LACKS_PACKAGES:
        return venv_complete(venv, err);
    default:
        return venv_create(venv, err);
    }
}

static void venv_on_searched(struct venv_search *search, const struct error *failure)
{
    struct venv_environment *venv = CONTAINER_OF(search, struct venv_environment, search);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (failure)
        venv_go_on(venv, OUTCOME_FAILED, failure);
    else
        venv_go_on(venv, venv_act_on_finding(venv, &err), &err);
}

/* Reads what is wanted now, and where that is: the file of requirements may have changed. */
static int venv_read_packages(struct venv_environment *venv, struct error *err)
{
    struct venv_packages packages;

    if (venv_packages_read(&packages, &venv->definition.packages, err) < 0)
        return -1;
    venv_packages_deinit(&venv->packages);
    venv->packages = packages;
    venv_place_deinit(&venv->place);
    venv_place_find(&venv->place, &venv->definition, &venv->packages, venv->folder);
    free(venv->parent);
    venv->parent = venv->place.is_ours && venv->definition.system_site_packages
                       ? venv_parent_find(venv->definition.python_path)
                       : NULL;
    return 0;
}

static enum outcome venv_look(struct venv_environment *venv, struct error *err)
{
    enum outcome outcome;

    venv_set_state(venv, VENV_SEARCHING);
    if (venv->looks++ == LOOKS)
        return (enum outcome)error_set(err, ERROR_UNAVAILABLE, "%s keeps being changed by others",
                                       venv->place.path);
    if (venv_read_packages(venv, err) < 0)
        return OUTCOME_FAILED;
    venv->search.packages = venv->packages.digest;
    venv->search.holding = environment_holding(&venv->environment, venv->folder);
    outcome = venv_search_start(&venv->search, err);
    return outcome == OUTCOME_READY ? venv_act_on_finding(venv, err) : outcome;
}

/* The kind */

static bool venv_is_prepared(const struct environment *environment)
{
    const struct venv_environment *venv = const_venv_of(environment);

    return venv->state == VENV_PREPARED &&
           file_identity_holds(&venv->python_file, venv->place.python) &&
           (!venv->parent || venv_parent_is(venv->parent, &venv->parent_file)) &&
           venv_packages_are_current(&venv->packages, &venv->definition.packages);
}

static enum outcome venv_prepare(struct environment *environment, struct error *err)
{
    struct venv_environment *venv = venv_of(environment);

    venv->looks = 0;
    environment_step(environment, -1, "looking for the venv");
    return venv_note(venv, venv_look(venv, err));
}

static void venv_cancel(struct environment *environment)
{
    struct venv_environment *venv = venv_of(environment);

    venv_search_cancel(&venv->search);
    if (venv->builder)
        venv_builder_cancel(venv->builder);
    venv->builder = NULL;
    venv_set_state(venv, VENV_UNPREPARED);
}

static struct execution *venv_start(struct environment *environment,
                                    const struct execution_request *request,
                                    struct execution_listener *listener, struct error *err)
{
    return local_start(environment, venv_of(environment)->place.python, request, listener, err);
}

static const char *venv_describe_interpreter(const struct environment *environment)
{
    return const_venv_of(environment)->place.python;
}

static const char *venv_python_version(const struct environment *environment)
{
    return const_venv_of(environment)->version;
}

static const char *const *venv_needs(const struct environment *environment)
{
    return (const char *const *)const_venv_of(environment)->needs;
}

/* The Python of the operator's venv; NULL for a venv of ours, since its definition names its
 * packages. */
static char *venv_find_python(const struct environment *environment)
{
    AUTO_FREE char *path = venv_definition_path(&const_venv_of(environment)->definition);
    AUTO_FREE char *python = path ? memory_format("%s/bin/python", path) : NULL;

    return python && search_path_is_program(python) ? STEAL_PTR(python) : NULL;
}

/* That of its venv if there is one, else those that a new one can be made from. */
static void venv_find_candidates(const struct environment *environment, struct python_places *ret)
{
    const struct venv_definition *definition = &const_venv_of(environment)->definition;
    AUTO_FREE char *python = venv_find_python(environment);

    *ret = (struct python_places){0};
    if (python)
        python_places_add(ret, python);
    else if (definition->python_path)
        python_places_add(ret, definition->python_path);
    else
        python_places_find_unnamed(ret, definition->python_version);
}

static void venv_begin(struct environment *environment)
{
    struct venv_environment *venv = venv_of(environment);

    venv_sweep_start(&venv->sweep, environment->loop, venv->folder);
}

static void venv_stop(struct environment *environment)
{
    venv_sweep_stop(&venv_of(environment)->sweep);
}

static bool venv_is_idle(const struct environment *environment)
{
    return list_is_empty(&const_venv_of(environment)->builders);
}

static void venv_free(struct environment *environment)
{
    struct venv_environment *venv = venv_of(environment);

    assert(list_is_empty(&venv->builders));
    venv_leave(venv);
    venv_sweep_stop(&venv->sweep);
    venv_search_deinit(&venv->search);
    base_search_cancel(&venv->base);
    venv_packages_deinit(&venv->packages);
    venv_place_deinit(&venv->place);
    free(venv->parent);
    free(venv->version);
    memory_free_strings(venv->needs);
    free(venv->folder);
    free(venv->state_name);
    free(venv->origin);
    environment_deinit(environment);
    free(venv);
}

static json_t *venv_describe_reach(const struct environment *environment)
{
    const struct venv_definition *definition = &const_venv_of(environment)->definition;
    const char *base = definition->python_path ? definition->python_path : "python3";
    AUTO_FREE char *path = venv_definition_path(definition);
    json_t *lines = json_array();

    if (path)
        reach_add(lines, "Python", "of the virtual environment %s", path);
    else if (definition->python_version && !definition->python_path)
        reach_add(lines, "Python", "%s, in a virtual environment", definition->python_version);
    else
        reach_add(lines, "Python", "%s, in a virtual environment", base);
    reach_add_machine(lines, environment);
    reach_add_packages(lines, &definition->packages);
    return lines;
}

static const struct environment_ops venv_ops = {
    .kind = &venv_kind,
    .begin = venv_begin,
    .is_prepared = venv_is_prepared,
    .prepare = venv_prepare,
    .cancel = venv_cancel,
    .start = venv_start,
    .delivery = local_delivery,
    .can_overlap = local_can_overlap,
    .describe_interpreter = venv_describe_interpreter,
    .python_version = venv_python_version,
    .needs = venv_needs,
    .find_python = venv_find_python,
    .find_candidates = venv_find_candidates,
    .expected_receipt = local_expected_receipt,
    .reach = venv_describe_reach,
    .stop = venv_stop,
    .is_idle = venv_is_idle,
    .free = venv_free,
};

static void venv_init_searches(struct venv_environment *venv,
                               const struct environment_recipe *recipe)
{
    venv->search = (struct venv_search){
        .environment = &venv->environment,
        .place = &venv->place,
        .done = venv_on_searched,
    };
    venv->base = (struct base_search){
        .loop = recipe->loop,
        .host = recipe->host,
        .state = venv->folder,
        .done = venv_on_base_found,
    };
}

static struct environment *venv_environment_new(struct environment_recipe *recipe,
                                                const char **ret_key, struct error *err)
{
    const struct venv_definition definition = venv_definition_read(recipe->definition);
    struct venv_environment *venv;

    if (venv_definition_check(&definition, ret_key, err) < 0)
        return NULL;
    venv = NEW(struct venv_environment);
    venv->definition = definition;
    venv->in_use = -1;
    venv->folder = recipe->state ? memory_copy_string(recipe->state) : NULL;
    venv->state_name =
        memory_copy_string(recipe->instance ? instance_state_name(recipe->instance) : "new");
    list_init(&venv->builders);
    venv_init_searches(venv, recipe);
    environment_init(&venv->environment, &venv_ops, recipe);
    return &venv->environment;
}

const struct environment_kind venv_kind = {
    .name = "venv",
    .isolation = ISOLATION_NONE,
    .create = venv_environment_new,
};
