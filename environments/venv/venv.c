#include "environments/venv/venv.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/instance.h"
#include "environments/interpreter/base_search.h"
#include "environments/interpreter/search_path.h"
#include "environments/local.h"
#include "environments/reach.h"
#include "environments/venv/builder.h"
#include "environments/venv/definition.h"
#include "environments/venv/record.h"
#include "environments/venv/sweep.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKS = 5 }; /* until a venv that others change all the time is given up */

struct venv_environment {
    struct environment environment;
    struct venv_definition definition;
    char *state;      /* owned */
    char *state_name; /* owned */

    /* What scripts run with; current once prepared. */
    struct venv_packages packages;
    char *key;     /* owned; what the venv is found by */
    char *path;    /* owned; where it is */
    char *python;  /* owned; its interpreter, PATH/bin/python */
    char *version; /* owned; of that */
    bool prepared;
    struct file_identity python_file;
    int in_use; /* owned; the venv, locked against being swept; -1 */

    /* The preparation under way. */
    struct base_search search;
    struct interpreter own;       /* the venv's, when it is asked who it is */
    struct venv_builder *builder; /* borrowed: one of these, or NULL */
    unsigned looks;
    bool is_there;    /* a venv is at PATH ... */
    bool is_replaced; /* ... and of no use */
    char *aside;      /* owned; or NULL */

    struct list builders; /* of struct venv_builder: those that were given up, too */
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

/* In the state directory, and so to be removed and replaced when it is of no use. */
static bool is_ours(const struct venv_environment *venv)
{
    return !venv->definition.venv_path;
}

static void venv_set(char **string, char *value /* taken */)
{
    free(*string);
    *string = value;
}

/* Prepared */

static void venv_leave(struct venv_environment *venv)
{
    if (venv->in_use >= 0)
        close(venv->in_use);
    venv->in_use = -1;
    venv->prepared = false;
}

/* Nobody sweeps it while it is in use, nor for some time after. */
static void venv_hold(struct venv_environment *venv)
{
    venv->in_use = open(venv->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (venv->in_use < 0)
        return;
    (void)flock(venv->in_use, LOCK_SH | LOCK_NB);
    venv_sweep_note_use(venv->path);
}

static enum outcome become_ready(struct venv_environment *venv, const char *version)
{
    venv_set(&venv->version, memory_copy_string(version));
    file_identity_read(&venv->python_file, venv->python);
    venv->prepared = true;
    if (is_ours(venv))
        venv_hold(venv);
    return OUTCOME_READY;
}

static bool is_ready(const struct venv_environment *venv)
{
    return venv->prepared && file_identity_holds(&venv->python_file, venv->python) &&
           venv_packages_are_current(&venv->packages, &venv->definition);
}

/* Building */

static enum outcome venv_look(struct venv_environment *venv, struct error *err);

/* The one way on from what was pending. */
static void venv_go_on(struct venv_environment *venv, enum outcome outcome, const struct error *err)
{
    if (outcome == OUTCOME_PENDING)
        return;
    environment_prepared(&venv->environment, outcome == OUTCOME_FAILED ? err : NULL);
}

static void venv_on_built(struct venv_builder *builder, const struct error *failure)
{
    struct venv_environment *venv = venv_of(builder->plan.environment);
    struct error err = ERROR_INIT;

    venv->builder = NULL;
    if (failure)
        venv_go_on(venv, OUTCOME_FAILED, failure);
    else
        venv_go_on(venv, venv_look(venv, &err), &err);
}

static void venv_build(struct venv_environment *venv)
{
    const struct venv_definition *definition = &venv->definition;
    const struct venv_plan plan = {
        .environment = &venv->environment,
        .state = venv->state,
        .key = venv->key,
        .path = venv->path,
        .aside = venv->aside,
        .is_there = venv->is_there && !venv->is_replaced,
        .is_replaced = venv->is_replaced,
        .system_site_packages = definition->system_site_packages,
        .base = venv->search.base,
        .interpreter = venv->search.interpreter,
        .version = venv->version,
        .requirements = &venv->packages.requirements,
        .packages = *venv->packages.digest ? venv->packages.digest : NULL,
        .index_url = definition->pip_index_url,
        .find_links = definition->pip_find_links,
        .allow_source_builds = definition->allow_source_builds,
    };

    venv->builder = venv_builder_start(&plan, &venv->builders, venv_on_built);
}

static void venv_on_base_found(struct base_search *search, const struct error *err)
{
    struct venv_environment *venv = CONTAINER_OF(search, struct venv_environment, search);

    if (err)
        venv_go_on(venv, OUTCOME_FAILED, err);
    else
        venv_build(venv);
}

/* Makes the venv; from the Python that is asked for. */
static enum outcome venv_create(struct venv_environment *venv, struct error *err)
{
    const char *version = venv->definition.python_path ? NULL : venv->definition.python_version;
    enum outcome outcome;

    environment_step(&venv->environment, -1, "finding python%s%s", version ? " " : "",
                     version ? version : "");
    outcome = base_search_start(&venv->search, err);
    if (outcome != OUTCOME_READY)
        return outcome;
    venv_build(venv);
    return OUTCOME_PENDING;
}

/* What is there */

static bool has_same_minor(const char *left, const char *right)
{
    size_t length = strcspn(left, ".") + 1;

    length += strcspn(left + length, ".");
    return strncmp(left, right, length) == 0 && (!right[length] || right[length] == '.');
}

static bool has_packages(const struct venv_environment *venv, const struct venv_record *record)
{
    const char *wanted = venv->packages.digest;

    return !*wanted || (record->packages && strcmp(record->packages, wanted) == 0);
}

/* RECORD is of a venv whose interpreter is VERSION now. */
static enum outcome venv_judge(struct venv_environment *venv, const struct venv_record *record,
                               const char *version, struct error *err)
{
    const bool is_same = record->version && has_same_minor(record->version, version);

    if (is_ours(venv) && !(is_same && has_packages(venv, record))) {
        venv->is_replaced = true;
        return venv_create(venv, err);
    }
    if (*venv->packages.digest && !(is_same && has_packages(venv, record))) {
        venv_set(&venv->version, memory_copy_string(version));
        venv_build(venv);
        return OUTCOME_PENDING;
    }
    return become_ready(venv, version);
}

/* The Python behind it has been replaced, perhaps by one of the same version. */
static void renew_record(const struct venv_environment *venv, struct venv_record *record)
{
    struct error ignored = ERROR_INIT; /* it is asked again the next time */

    file_identity_read(&record->executable_file, venv->python);
    venv_set(&record->version, memory_copy_string(venv->own.version));
    (void)venv_record_write(record, venv->path, &ignored);
}

static enum outcome judge_answer(struct venv_environment *venv, struct error *err)
{
    struct venv_record record;
    const bool has_record = venv_record_read(&record, venv->path);
    enum outcome outcome = venv_judge(venv, &record, venv->own.version, err);

    if (has_record && outcome == OUTCOME_READY)
        renew_record(venv, &record);
    venv_record_deinit(&record);
    return outcome;
}

static void venv_on_own_answered(struct interpreter *interpreter, const struct error *failure)
{
    struct venv_environment *venv = CONTAINER_OF(interpreter, struct venv_environment, own);
    struct error err = ERROR_INIT;

    if (!failure) {
        venv_go_on(venv, judge_answer(venv, &err), &err);
        return;
    }
    if (!is_ours(venv)) {
        venv_go_on(venv, OUTCOME_FAILED, failure);
        return;
    }
    venv->is_replaced = true;
    venv_go_on(venv, venv_create(venv, &err), &err);
}

static enum outcome ask_own(struct venv_environment *venv, struct error *err)
{
    enum outcome outcome;

    environment_step(&venv->environment, -1, "asking the Python of the venv for its version");
    interpreter_deinit(&venv->own);
    interpreter_init(&venv->own, venv->environment.loop, venv->environment.host, venv->python);
    venv->own.done = venv_on_own_answered;
    outcome = interpreter_find(&venv->own, err);
    return outcome == OUTCOME_READY ? judge_answer(venv, err) : outcome;
}

static enum outcome venv_use(struct venv_environment *venv, struct error *err)
{
    struct venv_record record;
    enum outcome outcome;

    venv->is_there = true;
    if (!venv_record_read(&record, venv->path))
        return ask_own(venv, err);
    if (file_identity_holds(&record.executable_file, venv->python))
        outcome = venv_judge(venv, &record, record.version, err);
    else
        outcome = ask_own(venv, err);
    venv_record_deinit(&record);
    return outcome;
}

static void venv_close_stream(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

static bool venv_is_empty(DIR *stream)
{
    const struct dirent *entry;

    while ((entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
    return true;
}

/* The operator's path, where no venv is: nothing else may be there. */
static int check_place(const struct venv_environment *venv, struct error *err)
{
    AUTO(venv_close_stream) DIR *stream = opendir(venv->path);
    struct stat status;

    if (!stream && errno == ENOENT)
        return 0;
    if (!stream)
        return error_set_errno(err, errno, "venv_path: %s", venv->path);
    if (venv_is_empty(stream))
        return 0;
    if (lstat(venv->python, &status) == 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "%s cannot be executed; if the Python that it leads to is gone, remove %s "
                         "to have it made anew",
                         venv->python, venv->path);
    return error_set(err, ERROR_UNAVAILABLE,
                     "venv_path: %s is not empty and holds no virtual environment (no bin/python); "
                     "nothing was changed in it",
                     venv->path);
}

/* A new venv at the operator's path is made beside it, on the same file system. */
static int prepare_place(struct venv_environment *venv, struct error *err)
{
    const char *name = strrchr(venv->path, '/') + 1;
    AUTO_FREE char *parent = strndup(venv->path, (size_t)(name - venv->path));

    if (check_place(venv, err) < 0 || fd_make_directories(parent, 0755, err) < 0)
        return -1;
    venv->aside = memory_format("%s.%s.pyexecd-%.8s", parent, name, venv->state_name);
    return 0;
}

/* Where it is, and what has to be in it. */
static int venv_settle(struct venv_environment *venv, struct error *err)
{
    struct venv_packages packages;

    if (venv_packages_read(&packages, &venv->definition, err) < 0)
        return -1;
    venv_packages_deinit(&venv->packages);
    venv->packages = packages;
    venv_set(&venv->key, venv_definition_key(&venv->definition, &venv->packages));
    venv_set(&venv->path, is_ours(venv) ? memory_format("%s/venvs/%s", venv->state, venv->key)
                                        : memory_copy_string(venv->definition.venv_path));
    venv_set(&venv->python, memory_format("%s/bin/python", venv->path));
    venv_set(&venv->aside, NULL);
    venv->is_there = false;
    venv->is_replaced = false;
    return 0;
}

/* Looks at what there is, and makes what is missing. */
static enum outcome venv_look(struct venv_environment *venv, struct error *err)
{
    venv_leave(venv);
    base_search_cancel(&venv->search);
    if (venv->looks++ == LOOKS)
        return (enum outcome)error_set(err, ERROR_UNAVAILABLE,
                                       "%s is changed by others all the time", venv->path);
    if (venv_settle(venv, err) < 0)
        return OUTCOME_FAILED;
    if (search_path_is_program(venv->python))
        return venv_use(venv, err);
    if (is_ours(venv))
        venv->is_replaced = true;
    else if (prepare_place(venv, err) < 0)
        return OUTCOME_FAILED;
    return venv_create(venv, err);
}

/* The kind */

static enum outcome venv_prepare(struct environment *environment, struct error *err)
{
    struct venv_environment *venv = venv_of(environment);

    if (is_ready(venv))
        return OUTCOME_READY;
    venv->looks = 0;
    environment_step(environment, -1, "looking for the venv");
    return venv_look(venv, err);
}

static void venv_cancel(struct environment *environment)
{
    struct venv_environment *venv = venv_of(environment);

    if (venv->builder)
        venv_builder_cancel(venv->builder);
    venv->builder = NULL;
    base_search_cancel(&venv->search);
    interpreter_cancel(&venv->own);
}

static struct execution *venv_start(struct environment *environment,
                                    const struct execution_request *request,
                                    struct execution_listener *listener, struct error *err)
{
    return local_start(environment, venv_of(environment)->python, request, listener, err);
}

static const char *venv_interpreter(const struct environment *environment)
{
    return const_venv_of(environment)->python;
}

static const char *venv_python_version(const struct environment *environment)
{
    return const_venv_of(environment)->version;
}

static void venv_begin(struct environment *environment)
{
    struct venv_environment *venv = venv_of(environment);

    venv_sweep_start(&venv->sweep, environment->loop, venv->state);
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
    base_search_cancel(&venv->search);
    interpreter_deinit(&venv->own);
    venv_packages_deinit(&venv->packages);
    venv_definition_deinit(&venv->definition);
    free(venv->key);
    free(venv->path);
    free(venv->python);
    free(venv->aside);
    free(venv->version);
    free(venv->state);
    free(venv->state_name);
    environment_deinit(environment);
    free(venv);
}

static json_t *venv_describe_reach(const struct environment *environment)
{
    const struct venv_definition *definition = &const_venv_of(environment)->definition;
    const char *base = definition->python_path ? definition->python_path : "python3";
    json_t *lines = json_array();

    if (definition->venv_path)
        reach_add(lines, "Python", "of the virtual environment %s", definition->venv_path);
    else if (definition->python_version && !definition->python_path)
        reach_add(lines, "Python", "%s, in a virtual environment", definition->python_version);
    else
        reach_add(lines, "Python", "%s, in a virtual environment", base);
    reach_add_machine(lines);
    reach_add_packages(lines, environment->definition);
    return lines;
}

static const struct environment_ops venv_ops = {
    .kind = "venv",
    .begin = venv_begin,
    .prepare = venv_prepare,
    .cancel = venv_cancel,
    .start = venv_start,
    .can_overlay = local_can_overlay,
    .interpreter = venv_interpreter,
    .python_version = venv_python_version,
    .expected_receipt = local_expected_receipt,
    .reach = venv_describe_reach,
    .stop = venv_stop,
    .is_idle = venv_is_idle,
    .free = venv_free,
};

static void begin_search(struct venv_environment *venv, const struct environment_recipe *recipe)
{
    venv->search = (struct base_search){
        .loop = recipe->loop,
        .host = recipe->host,
        .state = venv->state,
        .path = venv->definition.python_path,
        .version = venv->definition.python_version,
        .done = venv_on_base_found,
    };
}

struct environment *venv_environment_new(struct environment_recipe *recipe, const char **ret_key,
                                         struct error *err)
{
    struct venv_definition definition;
    struct venv_environment *venv;

    if (venv_definition_read(&definition, recipe->definition, ret_key, err) < 0)
        return NULL;
    venv = NEW(struct venv_environment);
    venv->definition = definition;
    venv->in_use = -1;
    venv->state = recipe->state ? memory_copy_string(recipe->state) : NULL;
    venv->state_name =
        memory_copy_string(recipe->instance ? instance_state_name(recipe->instance) : "new");
    list_init(&venv->builders);
    begin_search(venv, recipe);
    environment_init(&venv->environment, &venv_ops, recipe);
    return &venv->environment;
}
