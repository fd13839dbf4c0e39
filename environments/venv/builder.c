#include "environments/venv/builder.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/state.h"
#include "environments/environment.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/interpreter.h"
#include "environments/packages/package_installer.h"
#include "environments/packages/requirements.h"
#include "environments/process/subprocess.h"
#include "environments/venv/layout.h"
#include "environments/venv/record.h"
#include "environments/venv/scripts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCKED_SECONDS          0.05 /* between two looks whether another one has done */
#define RENEWED_REMOVAL_SECONDS 1.0  /* between two removals */

enum {
    RENEWED_REMOVALS = 10, /* by a builder that was given up */
    STEP_OPERATIONS = 256, /* files removed in one turn of the loop */
    STEP_PROGRAMS = 16,    /* that get another interpreter in one turn */
    ASIDE_DIGITS = 8,      /* in the name of a bin/ that a package has changed */
};

static const struct state venv_builder_states[] = {
    [BUILDER_LOCKING] = {"locking", 1 << BUILDER_WAITING | 1 << BUILDER_EMPTYING},
    [BUILDER_WAITING] = {"waiting", 1 << BUILDER_CLEANING},
    [BUILDER_EMPTYING] = {"emptying", 1 << BUILDER_ASKING | 1 << BUILDER_ADOPTING |
                                          1 << BUILDER_SEEKING | 1 << BUILDER_INSTALLING |
                                          1 << BUILDER_CLEANING},
    [BUILDER_ASKING] = {"asking", 1 << BUILDER_ADOPTING | 1 << BUILDER_SEEKING |
                                      1 << BUILDER_INSTALLING | 1 << BUILDER_CLEANING},
    [BUILDER_ADOPTING] = {"adopting programs",
                          1 << BUILDER_SEEKING | 1 << BUILDER_INSTALLING | 1 << BUILDER_CLEANING},
    [BUILDER_SEEKING] = {"seeking", 1 << BUILDER_INSTALLING | 1 << BUILDER_CLEANING},
    [BUILDER_INSTALLING] = {"installing", 1 << BUILDER_MOVING | 1 << BUILDER_CLEANING},
    [BUILDER_MOVING] = {"moving programs", 1 << BUILDER_CLEANING},
    [BUILDER_CLEANING] = {"cleaning", 0},
};

static void venv_builder_set_state(struct venv_builder *builder, enum venv_builder_state state)
{
    state_change(venv_builder_states, builder->state, state, "venv builder");
    builder->state = state;
}

static void continue_in(struct venv_builder *builder, double seconds)
{
    ev_timer_set(&builder->timer, seconds, 0.);
    ev_timer_start(builder->loop, &builder->timer);
}

static bool is_given_up(const struct venv_builder *builder)
{
    return !builder->done;
}

/* The venv is there, and stays: only packages are missing. */
static bool is_installing_only(const struct venv_builder *builder)
{
    return builder->plan.finding == VENV_LACKS_PACKAGES;
}

/* Removing */

static void venv_builder_begin_removal(struct venv_builder *builder, enum venv_builder_state state)
{
    venv_builder_set_state(builder, state);
    if (builder->aside)
        (void)tree_removal_open(&builder->removal, builder->aside);
    directory_removal_init(&builder->emptying, builder->scratch.fd);
    continue_in(builder, 0);
}

static bool venv_builder_remove_some(struct venv_builder *builder)
{
    if (builder->removal.path && tree_removal_step(&builder->removal))
        return true;
    tree_removal_close(&builder->removal);
    if (directory_removal_step(&builder->emptying, STEP_OPERATIONS))
        return true;
    directory_removal_deinit(&builder->emptying);
    return false;
}

/* An installer that was killed has its time to be gone (process.h). Where a machine takes longer,
 * processes of it write meanwhile where their files are removed. */
static bool venv_builder_removes_again(struct venv_builder *builder)
{
    if (!is_given_up(builder) || ++builder->removals >= RENEWED_REMOVALS ||
        rmdir(builder->scratch.path) == 0 || errno == ENOENT)
        return false;
    directory_removal_init(&builder->emptying, builder->scratch.fd);
    continue_in(builder, RENEWED_REMOVAL_SECONDS);
    return true;
}

/* The end */

static void builder_free(struct venv_builder *builder)
{
    list_remove(&builder->link);
    ev_timer_stop(builder->loop, &builder->timer);
    venv_scratch_unlock(&builder->scratch);
    venv_scripts_end(&builder->programs);
    base_python_free(builder->base);
    free(builder->system_index);
    venv_anchors_deinit(&builder->anchors);
    free(builder->installing);
    free(builder->aside);
    free(builder);
}

/* The one way out. */
static void venv_builder_finish(struct venv_builder *builder)
{
    const struct error *err = builder->error.code == ERROR_NONE ? NULL : &builder->error;

    list_remove(&builder->link);
    if (builder->scratch.path)
        (void)rmdir(builder->scratch.path); /* unless something could not be removed */
    venv_scratch_unlock(&builder->scratch);
    if (!is_given_up(builder))
        builder->done(builder, err);
    builder_free(builder);
}

/* The work is done, or builder->error says why it failed. */
static void venv_builder_clean(struct venv_builder *builder)
{
    venv_builder_begin_removal(builder, BUILDER_CLEANING);
}

/* Where the venv is while it is made. Owned by the caller. */
static char *tree_of(const struct venv_builder *builder)
{
    if (is_installing_only(builder))
        return memory_copy_string(builder->plan.path);
    if (builder->aside)
        return memory_copy_string(builder->aside);
    return memory_format("%s/venv", builder->scratch.path);
}

/* A directory NAME in the scratch directory. Owned by the caller, or NULL. */
static char *make_scratch(struct venv_builder *builder, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", builder->scratch.path, name);

    if (fd_make_directories(path, S_IRWXU, &builder->error) < 0)
        return NULL;
    return STEAL_PTR(path);
}

/* The empty venv that the installer is run in. Owned by the caller. */
static char *venv_builder_runner(const struct venv_builder *builder)
{
    return memory_format("%s/runner", builder->scratch.path);
}

/* Into its place */

static const struct base_python *base_of(const struct venv_builder *builder)
{
    return builder->base ? builder->base : builder->plan.base;
}

static int write_record(struct venv_builder *builder, const char *tree)
{
    const struct venv_plan *plan = &builder->plan;
    const struct base_python *base = base_of(builder);
    const bool has_venv = is_installing_only(builder);
    AUTO_FREE char *own = memory_format("%s/bin/python", tree);
    struct venv_record record = {
        .path = plan->kept ? (char *)plan->path : NULL,
        .version = has_venv ? (char *)plan->version : base->version,
        .executable = has_venv ? own : base->executable,
        .packages = (char *)plan->packages,
        .directories = has_venv ? plan->directories : base->directories,
    };

    file_identity_read(&record.executable_file, own);
    return venv_record_write(&record, tree, plan->kept, &builder->error);
}

/* Moves a useless venv at the new venv's place to the scratch directory. */
static int make_way(struct venv_builder *builder)
{
    AUTO_FREE char *old = memory_format("%s/old", builder->scratch.path);

    if (builder->plan.finding != VENV_USELESS || rename(builder->plan.path, old) == 0 ||
        errno == ENOENT)
        return 0;
    return error_set_errno(&builder->error, errno, "cannot move %s", builder->plan.path);
}

/* A session still uses the old one. */
static void venv_builder_put_back(const struct venv_builder *builder)
{
    AUTO_FREE char *old = memory_format("%s/old", builder->scratch.path);

    (void)rename(old, builder->plan.path);
}

/* A server with another state directory may have been faster: then its venv is used. */
static int move_tree(struct venv_builder *builder, const char *tree)
{
    if (make_way(builder) < 0)
        return -1;
    if (rename(tree, builder->plan.path) == 0 || errno == ENOTEMPTY || errno == EEXIST)
        return 0;
    error_set_errno(&builder->error, errno, "cannot make %s", builder->plan.path);
    venv_builder_put_back(builder);
    return -1;
}

/* The installer has made its programs for the venv that it was run in. */
static int venv_builder_move_programs(struct venv_builder *builder)
{
    AUTO_FREE char *tree = tree_of(builder);
    AUTO_FREE char *bin = memory_format("%s/bin", tree);
    AUTO_FREE char *runner = venv_builder_runner(builder);
    AUTO_FREE char *from = memory_format("%s/bin/python", runner);
    AUTO_FREE char *to = memory_format("%s/bin/python", builder->plan.path);

    return venv_scripts_move(&builder->programs, bin, from, to, &builder->error);
}

static int venv_builder_place(struct venv_builder *builder)
{
    AUTO_FREE char *tree = tree_of(builder);

    if (is_installing_only(builder))
        return write_record(builder, tree);
    environment_step(builder->plan.environment, -1, "putting the venv into its place");
    if (write_record(builder, tree) < 0)
        return -1;
    return move_tree(builder, tree);
}

/* Packages */

static void say_installing(const struct venv_builder *builder)
{
    environment_step(builder->plan.environment, -1, "installing %s", builder->installing);
}

static void venv_builder_on_said(void *data, const char *line)
{
    const struct venv_builder *builder = data;
    AUTO_FREE char *step = package_installation_step(line);

    if (step && !is_given_up(builder))
        environment_step(builder->plan.environment, -1, "installing %s: %s", builder->installing,
                         step);
}

/* Keeps ERR, with advice. */
static void venv_builder_keep_error(struct venv_builder *builder, const struct error *err)
{
    AUTO_FREE char *said = error_text(err);
    const char *advice = package_installation_advice(said, builder->plan.allow_source_builds);

    if (advice)
        error_set(&builder->error, err->code, "%s\n%s", said, advice);
    else
        error_copy(&builder->error, err);
}

/* Puts bin/ aside, whatever stands there now: a link is not followed. */
static void venv_builder_disable(const char *tree)
{
    AUTO_FREE char *digits = random_digits(ASIDE_DIGITS);
    AUTO_FREE char *bin = memory_format("%s/bin", tree);
    AUTO_FREE char *aside = memory_format("%s/bin-%s", tree, digits);

    (void)rename(bin, aside);
}

/* A package may have replaced the Python of the venv, also if the installer has failed or was
 * ended. The next preparation would ask that Python what a sandbox shows. Of a builder that was
 * given up, the plan is gone. */
static int venv_builder_check(struct venv_builder *builder)
{
    if (venv_anchors_check(&builder->anchors, &builder->error) == 0)
        return 0;
    venv_builder_disable(builder->anchors.venv);
    return -1;
}

static void venv_builder_on_installed(void *data, const char *output, const struct error *err)
{
    struct venv_builder *builder = data;
    const bool is_whole = venv_builder_check(builder) == 0;

    (void)output;
    builder->tool = NULL;
    if (is_whole && !is_given_up(builder) && err) {
        say_installing(builder);
        venv_builder_keep_error(builder, err);
    } else if (is_whole && !is_given_up(builder) && venv_builder_move_programs(builder) == 0) {
        venv_builder_set_state(builder, BUILDER_MOVING);
        continue_in(builder, 0);
        return;
    }
    venv_builder_clean(builder);
}

/* The directory for temporary files of the installer, beside which its own venv is made. Owned by
 * the caller, or NULL. */
static char *venv_builder_prepare_installer(struct venv_builder *builder)
{
    AUTO_FREE char *runner = venv_builder_runner(builder);
    const struct venv_layout layout = {
        .base = base_of(builder),
        .written = runner,
        .path = runner,
        .without_pip = true,
    };

    if (venv_layout_write(&layout, &builder->error) < 0)
        return NULL;
    return make_scratch(builder, "tmp");
}

static void venv_builder_install(struct venv_builder *builder)
{
    const struct venv_plan *plan = &builder->plan;
    const struct base_python *base = base_of(builder);
    AUTO_FREE char *tree = tree_of(builder);
    AUTO_FREE char *runner = venv_builder_runner(builder);
    AUTO_FREE char *scratch = venv_builder_prepare_installer(builder);
    AUTO_FREE char *parent =
        plan->parent ? memory_format("%s/%s", plan->parent, base->packages) : NULL;
    const struct package_installation installation = {
        .host = plan->environment->host,
        .venv = tree,
        .runner = runner,
        .parent = parent,
        .base = base,
        .default_index = base->index ? base->index : builder->system_index,
        .holding = &plan->holding,
        .requirements = plan->requirements,
        .index_url = plan->index_url,
        .find_links = plan->find_links,
        .allow_source_builds = plan->allow_source_builds,
        .scratch = scratch,
    };

    venv_anchors_read(&builder->anchors, tree, base->packages);
    builder->installing = requirements_names(plan->requirements);
    say_installing(builder);
    if (scratch)
        builder->tool = package_installation_start(&installation, builder, venv_builder_on_said,
                                                   venv_builder_on_installed, &builder->error);
    if (!builder->tool)
        venv_builder_clean(builder);
    else
        venv_builder_set_state(builder, BUILDER_INSTALLING);
}

/* Where packages come from */

/* True if the index is needed, and the Python of the venv is not believed about it or was not
 * asked. */
static bool venv_builder_lacks_index(const struct venv_builder *builder)
{
    const struct venv_plan *plan = &builder->plan;
    const struct base_python *base = base_of(builder);

    return plan->holding.is_held && !plan->holding.network && !plan->index_url && !base->index;
}

static void venv_builder_on_sought(void *data, const char *output, const struct error *err)
{
    struct venv_builder *builder = data;

    builder->tool = NULL;
    if (err)
        error_copy(&builder->error, err);
    if (err || is_given_up(builder)) {
        venv_builder_clean(builder);
        return;
    }
    if (strstr(output, "://"))
        builder->system_index = memory_copy_string(output);
    venv_builder_install(builder);
}

static void venv_builder_seek_index(struct venv_builder *builder)
{
    if (venv_builder_lacks_index(builder))
        builder->tool = system_index_ask(builder->plan.environment->host, &builder->plan.holding,
                                         builder, venv_builder_on_sought, &builder->error);
    if (builder->tool)
        venv_builder_set_state(builder, BUILDER_SEEKING);
    else if (builder->error.code == ERROR_NONE)
        venv_builder_install(builder);
    else
        venv_builder_clean(builder);
}

/* The venv itself */

/* Its files are there, but for those of packages. */
static void venv_builder_fill(struct venv_builder *builder)
{
    if (builder->plan.packages) {
        venv_builder_seek_index(builder);
        return;
    }
    (void)venv_builder_place(builder);
    venv_builder_clean(builder);
}

static void venv_builder_adopt_programs(struct venv_builder *builder,
                                        const struct venv_layout *layout)
{
    if (venv_layout_adopt_programs(layout, &builder->programs, &builder->error) < 0) {
        venv_builder_clean(builder);
        return;
    }
    venv_builder_set_state(builder, BUILDER_ADOPTING);
    continue_in(builder, 0);
}

/* The base Python is known. */
static void venv_builder_create(struct venv_builder *builder)
{
    AUTO_FREE char *tree = tree_of(builder);
    const struct venv_layout layout = {
        .base = base_of(builder),
        .written = tree,
        .path = builder->plan.path,
        .parent = builder->plan.parent,
        .system_site_packages = builder->plan.system_site_packages,
    };

    if (is_installing_only(builder)) {
        venv_builder_seek_index(builder);
        return;
    }
    environment_step(builder->plan.environment, -1, "creating venv");
    if (venv_layout_write(&layout, &builder->error) < 0)
        venv_builder_clean(builder);
    else if (layout.parent)
        venv_builder_adopt_programs(builder, &layout);
    else
        venv_builder_fill(builder);
}

static void venv_builder_end_programs(struct venv_builder *builder)
{
    venv_scripts_end(&builder->programs);
    if (builder->state == BUILDER_ADOPTING) {
        venv_builder_fill(builder);
        return;
    }
    (void)venv_builder_place(builder);
    venv_builder_clean(builder);
}

/* Adopts or moves programs. */
static void venv_builder_go_on_with_programs(struct venv_builder *builder)
{
    const enum outcome outcome =
        is_given_up(builder)
            ? OUTCOME_FAILED
            : venv_scripts_step(&builder->programs, STEP_PROGRAMS, &builder->error);

    if (outcome == OUTCOME_PENDING)
        continue_in(builder, 0);
    else if (outcome == OUTCOME_READY)
        venv_builder_end_programs(builder);
    else
        venv_builder_clean(builder);
}

/* The base Python */

static void venv_builder_on_asked(void *data, const char *output, const struct error *err)
{
    struct venv_builder *builder = data;
    AUTO_FREE char *scratch = memory_format("%s/python", builder->scratch.path);

    builder->tool = NULL;
    if (err)
        error_copy(&builder->error, err);
    else if (!is_given_up(builder))
        builder->base = base_python_keep(builder->plan.state, builder->plan.interpreter, output,
                                         scratch, &builder->error);
    if (builder->base)
        venv_builder_create(builder);
    else
        venv_builder_clean(builder);
}

static void venv_builder_ask(struct venv_builder *builder)
{
    AUTO_FREE char *scratch = make_scratch(builder, "python");

    environment_step(builder->plan.environment, -1, "unpacking pip");
    if (scratch)
        builder->tool = base_python_ask(builder->plan.interpreter, scratch, builder,
                                        venv_builder_on_asked, &builder->error);
    if (builder->tool)
        venv_builder_set_state(builder, BUILDER_ASKING);
    else
        venv_builder_clean(builder);
}

static void begin_work(struct venv_builder *builder)
{
    if (builder->plan.base)
        venv_builder_create(builder);
    else
        venv_builder_ask(builder);
}

/* The lock */

static enum outcome venv_builder_lock(struct venv_builder *builder)
{
    AUTO_FREE char *folder = memory_format("%s/venvs", builder->plan.state);
    AUTO_FREE char *path = memory_format("%s/.new-%s", folder, builder->plan.key);

    if (fd_make_directories(folder, S_IRWXU, &builder->error) < 0)
        return OUTCOME_FAILED;
    return venv_scratch_lock(&builder->scratch, path, &builder->error);
}

static void venv_builder_wait(struct venv_builder *builder)
{
    if (builder->state == BUILDER_LOCKING) {
        environment_step(builder->plan.environment, -1,
                         "waiting for another preparation of this venv");
        venv_builder_set_state(builder, BUILDER_WAITING);
    }
    continue_in(builder, LOCKED_SECONDS);
}

/* A builder that had to wait makes nothing: the other one has probably made the venv, and the owner
 * looks again. */
static void try_lock(struct venv_builder *builder)
{
    switch (venv_builder_lock(builder)) {
    case OUTCOME_FAILED:
        venv_builder_finish(builder);
        break;
    case OUTCOME_PENDING:
        venv_builder_wait(builder);
        break;
    case OUTCOME_READY:
        venv_builder_begin_removal(builder, builder->state == BUILDER_WAITING ? BUILDER_CLEANING
                                                                              : BUILDER_EMPTYING);
        break;
    }
}

static bool venv_builder_has_lock(const struct venv_builder *builder)
{
    return builder->state != BUILDER_LOCKING && builder->state != BUILDER_WAITING;
}

static void venv_builder_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct venv_builder *builder = CONTAINER_OF(timer, struct venv_builder, timer);

    (void)loop;
    (void)events;
    if (!venv_builder_has_lock(builder))
        try_lock(builder);
    else if (builder->state == BUILDER_ADOPTING || builder->state == BUILDER_MOVING)
        venv_builder_go_on_with_programs(builder);
    else if (venv_builder_remove_some(builder))
        continue_in(builder, 0);
    else if (builder->state == BUILDER_EMPTYING && !is_given_up(builder))
        begin_work(builder);
    else if (!venv_builder_removes_again(builder))
        venv_builder_finish(builder);
}

struct venv_builder *venv_builder_start(const struct venv_plan *plan, struct list *list,
                                        void (*done)(struct venv_builder *builder,
                                                     const struct error *err))
{
    struct venv_builder *builder = NEW(struct venv_builder);

    builder->done = done;
    builder->error.rest = &builder->error_rest;
    builder->plan = *plan;
    builder->loop = plan->environment->loop;
    builder->aside = plan->aside ? memory_copy_string(plan->aside) : NULL;
    builder->scratch.fd = -1;
    list_append(list, &builder->link);
    ev_timer_init(&builder->timer, venv_builder_on_timer, 0., 0.);
    continue_in(builder, 0);
    return builder;
}

void venv_builder_cancel(struct venv_builder *builder)
{
    builder->done = NULL;
    if (builder->tool)
        subprocess_kill(builder->tool);
    else if (!venv_builder_has_lock(builder))
        builder_free(builder);
}
