/* `pyexecd doctor`: a verdict with what is missing and the commands that give it, and a report of
 * the features of this machine. It tests each environment by running a script of one line. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "environments/catalog/catalog.h"
#include "environments/executor.h"
#include "environments/gpu_files.h"
#include "environments/nodes/node_environment.h"
#include "environments/notebook/kernel_search.h"
#include "environments/packages/import_record.h"
#include "environments/process/host.h"
#include "environments/workplace/working_directory.h"
#include "server/commands/command.h"
#include "server/commands/doctor_docker.h"
#include "server/commands/doctor_nodes.h"
#include "server/commands/doctor_replicas.h"
#include "server/commands/doctor_tools.h"
#include "server/commands/doctor_venv.h"
#include "server/commands/doctor_verdict.h"
#include "server/commands/named_files.h"
#include "server/commands/options.h"
#include "server/commands/probe.h"
#include "server/commands/remedy.h"
#include "server/commands/step_display.h"
#include "server/configuration/config.h"
#include "server/service.h"
#include "server/state_directory.h"
#include "server/tools/hints/run_facts.h"
#include "server/transport/socket/peer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sysexits.h>

#define TRIAL_SECONDS      10.0
#define START_SECONDS      0.3 /* for the next start to be prepared, before it is tried */
#define START_MOST_SECONDS 3.  /* the same on a slow machine ... */
#define START_COLD_STARTS  8.  /* ... in cold starts */

enum { START_TRIALS = 5 };

static const char TRIAL_SCRIPT[] = "print('ok')\n";

/* How the run of a trial ended. */
struct doctor_trial {
    char *problem;                  /* owned: why no script can be run; NULL: it can */
    bool has_ended;                 /* else there was no run, and there is only the problem */
    bool has_started;               /* else the receipt has the layers that were planned */
    struct process_receipt receipt; /* its lists: references */
    char *version;                  /* owned: of the Python; NULL: it is not known */
    double start_seconds;
    double run_seconds;
    bool is_warm; /* its Python had been started ahead */
};

struct doctor {
    struct service service;
    struct executor_client client;
    struct run_setting setting;
    struct recurrence recurrence;        /* of the trials in an environment */
    struct working_directory *directory; /* owned: where they are */
    struct run *run;                     /* borrowed; NULL when it is over */
    struct doctor_trial trial;           /* owned: the last one, until it is fetched */
    struct doctor_verdict verdict;
    struct interruption interruption;
    struct step_display display;
    struct step_line line; /* of the environment that is prepared */
};

/* The consequence of a missing feature that has a remedy is in the verdict alone. */
static void command_doctor_note_feature(struct doctor *doctor, const struct probe *probe)
{
    AUTO_FREE char *remedy = probe->remedy();
    AUTO_FREE char *lack = memory_format("no %s: %s", probe->name, probe->without);

    doctor_verdict_add_lack(&doctor->verdict, lack, remedy);
}

static void command_doctor_print_feature(struct doctor *doctor, const struct probe *probe)
{
    char detail[PROBE_DETAIL_BYTES] = "";
    const bool there = probe->try(detail);
    AUTO_FREE char *missing = memory_format("%s%s%s", detail, *detail ? ": " : "", probe->without);

    command_print_line(there ? "yes" : "no", probe->name,
                       there || probe->remedy ? detail : missing);
    if (!there && probe->remedy)
        command_doctor_note_feature(doctor, probe);
}

static void print_kernel(struct doctor *doctor)
{
    struct utsname names;
    size_t count;
    const struct probe *probes = probe_list(&count);

    if (uname(&names) == 0)
        printf("kernel %s %s\n", names.sysname, names.release);
    for (size_t i = 0; i < count; i++)
        command_doctor_print_feature(doctor, &probes[i]);
}

/* Notes the end of the run that FACTS are about. */
static void doctor_trial_note(struct doctor_trial *trial, const struct run_facts *facts)
{
    const struct process_end *end = &facts->report->execution;
    const char *errors = json_string_value(facts->streams[PROCESS_STDERR]);
    const char *version = facts->report->python_version;

    *trial = (struct doctor_trial){
        .has_ended = true,
        .has_started = facts->has_returncode,
        .receipt = end->receipt,
        .version = version ? memory_copy_string(version) : NULL,
        .start_seconds = end->start_seconds,
        .run_seconds = end->run_seconds,
        .is_warm = end->ahead_seconds > 0,
    };
    json_incref((json_t *)end->receipt.missing);
    json_incref((json_t *)end->receipt.devices);
    if (!facts->is_success)
        trial->problem = memory_copy_string(facts->error ? facts->error : errors);
}

static void doctor_trial_deinit(struct doctor_trial *trial)
{
    free(trial->problem);
    free(trial->version);
    json_decref((json_t *)trial->receipt.missing);
    json_decref((json_t *)trial->receipt.devices);
    *trial = (struct doctor_trial){0};
}

static void command_doctor_on_done(void *data, const struct run_report *report)
{
    struct doctor *doctor = data;
    struct run_facts facts;

    doctor->run = NULL;
    run_facts_init(&facts, report, &doctor->setting);
    doctor_trial_note(&doctor->trial, &facts);
    run_facts_deinit(&facts);
    ev_break(doctor->service.loop, EVBREAK_ALL);
}

static void command_doctor_on_step(void *data, const struct preparation_step *step)
{
    struct doctor *doctor = data;

    step_display_follow(&doctor->display, &doctor->line, step);
}

/* Waits for the end of the run, or of the program. */
static void wait_for_run(struct doctor *doctor)
{
    struct ev_loop *loop = doctor->service.loop;

    fflush(stdout);
    step_display_init(&doctor->display, loop);
    step_line_init(&doctor->line, doctor->setting.environment->name);
    interruption_start(&doctor->interruption, loop);
    ev_run(loop, 0);
    interruption_stop(&doctor->interruption);
    if (doctor->run)
        run_cancel(STEAL_PTR(doctor->run));
    step_display_deinit(&doctor->display);
}

/* Runs the trial script and waits for its end. */
static int try_environment(struct doctor *doctor, struct environment *environment,
                           struct error *err)
{
    enum isolation isolation = environment_isolation(environment);
    AUTO_FREE char *principal = peer_own_principal();

    if (!doctor->directory)
        doctor->directory =
            workplace_open(doctor->service.workplace, principal, isolation, NULL, err);
    if (!doctor->directory)
        return -1;
    doctor->setting = (struct run_setting){.environment = environment, .timeout = TRIAL_SECONDS};
    doctor->run = executor_submit(doctor->service.executor,
                                  &(struct run_request){
                                      .environment = environment,
                                      .directory = doctor->directory,
                                      .isolation = isolation,
                                      .recurrence = &doctor->recurrence,
                                      .client = &doctor->client,
                                      .code = TRIAL_SCRIPT,
                                      .code_length = strlen(TRIAL_SCRIPT),
                                      .timeout = TRIAL_SECONDS,
                                      .data = doctor,
                                      .progress = command_doctor_on_step,
                                      .done = command_doctor_on_done,
                                  },
                                  err);
    if (!doctor->run)
        return -1;
    wait_for_run(doctor);
    return 0;
}

/* Owned by the caller. */
static struct doctor_trial command_doctor_try(struct doctor *doctor,
                                              struct environment *environment)
{
    struct error err = ERROR_INIT;
    struct doctor_trial trial = {0};

    if (try_environment(doctor, environment, &err) < 0)
        trial.problem = memory_copy_string(err.message);
    else
        trial = doctor->trial;
    doctor->trial = (struct doctor_trial){0};
    return trial;
}

static void command_doctor_on_pause(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

/* Gives the server time to start a Python ahead of the next call, on a machine where a cold start
 * takes COLD_SECONDS. */
static void command_doctor_pause(const struct doctor *doctor, double cold_seconds)
{
    ev_timer timer;

    ev_timer_init(&timer, command_doctor_on_pause,
                  fmax(START_SECONDS, fmin(START_MOST_SECONDS, START_COLD_STARTS * cold_seconds)),
                  0.);
    ev_timer_start(doctor->service.loop, &timer);
    ev_run(doctor->service.loop, 0);
    ev_timer_stop(doctor->service.loop, &timer);
}

/* The paths of this machine that a sandbox would have to show. */
static void print_needs(const struct environment *environment)
{
    const char *const *needs = environment_needs(environment);

    if (needs && !needs[0])
        command_print_line("", "  needs to read", "only the system's own programs");
    for (size_t i = 0; needs && needs[i]; i++)
        command_print_line("", i == 0 ? "  needs to read" : "", needs[i]);
}

static void print_trial(struct doctor *doctor, struct environment *environment,
                        const struct doctor_trial *trial)
{
    AUTO_FREE char *text = NULL;

    if (!trial->problem) {
        text = memory_format("%s, Python %s; started in %.1f ms, ended after %.1f ms",
                             environment->ops->describe_interpreter(environment),
                             trial->version ? trial->version : "(unknown)",
                             trial->start_seconds * 1e3, trial->run_seconds * 1e3);
        command_print_line("yes", environment->name, text);
        print_needs(environment);
        return;
    }
    text = memory_format("no script can be run: %s", trial->problem);
    command_print_line("no", environment->name, text);
    doctor_verdict_add_fault(&doctor->verdict, environment->name, trial->problem);
}

/* "a, b" for LAYERS. Owned by the caller. */
static char *command_doctor_list_layers(unsigned layers)
{
    AUTO_JSON json_t *names = process_layer_names(layers);

    return json_list(names);
}

/* The hosts that a run in ENVIRONMENT could reach, if it reached no others. */
static void command_doctor_print_hosts(const struct environment *environment)
{
    const struct sandbox_settings *sandbox = &environment->settings.sandbox;
    AUTO_JSON json_t *hosts = json_strings((const char *const *)sandbox->hosts);
    AUTO_FREE char *text = json_list(hosts);

    if (sandbox->is_wanted && *text)
        command_print_line("", "  network", text);
}

/* Owned by the caller; or NULL. */
static char *command_doctor_find_remedy(const struct environment *environment)
{
    const json_t *node = node_environment_pool(environment->definition);

    return node ? doctor_nodes_find_remedy(node) : remedy_find();
}

/* The ACTIVITY in ENVIRONMENT goes without the layers ABSENT. */
static void command_doctor_note_absent(struct doctor *doctor, const struct environment *environment,
                                       const char *activity, const char *absent)
{
    AUTO_FREE char *lack = memory_format("%s: %s without %s", environment->name, activity, absent);
    AUTO_FREE char *remedy = command_doctor_find_remedy(environment);

    doctor_verdict_add_lack(&doctor->verdict, lack, remedy);
}

/* The layers that isolated the trial, and the layers that were asked for and absent. */
static void command_doctor_print_layers(struct doctor *doctor,
                                        const struct environment *environment,
                                        const struct doctor_trial *trial)
{
    const char *isolation = isolation_name(process_receipt_isolation(&trial->receipt));
    AUTO_FREE char *held = command_doctor_list_layers(trial->receipt.layers);
    AUTO_FREE char *absent = command_doctor_list_layers(process_receipt_absent(&trial->receipt));
    AUTO_FREE char *text = NULL;

    if (!trial->has_ended)
        return;
    text = memory_format("%s%s%s%s%s%s",
                         trial->has_started ? "" : "did not start; planned: ", isolation,
                         *held ? ": " : "", held, *absent ? "; without: " : "", absent);
    command_print_line(*absent ? "no" : "", "  isolation", text);
    if (*absent)
        command_doctor_note_absent(doctor, environment, "scripts run", absent);
    command_doctor_print_hosts(environment);
}

/* Whether the call that follows TRIAL finds its Python started. */
static void command_doctor_print_start(struct doctor *doctor, struct environment *environment,
                                       const struct doctor_trial *trial)
{
    AUTO(doctor_trial_deinit) struct doctor_trial next = {0};
    AUTO_FREE char *text = NULL;

    if (environment->settings.start == START_COLD || trial->problem ||
        process_receipt_isolation(&trial->receipt) == ISOLATION_NONE)
        return;
    for (int i = 0; i < START_TRIALS && !next.is_warm && !doctor->interruption.signal; i++) {
        command_doctor_pause(doctor, trial->start_seconds);
        doctor_trial_deinit(&next);
        next = command_doctor_try(doctor, environment);
    }
    text = memory_format(next.is_warm ? "warm: the next call starts in %.1f ms"
                                      : "cold: each call starts its own Python, in %.1f ms",
                         next.start_seconds * 1e3);
    command_print_line(next.is_warm ? "yes" : "no", "  start", text);
}

/* Layers that the programs that prepared ENVIRONMENT were to have and had not. */
static void command_doctor_print_preparation(struct doctor *doctor,
                                             const struct environment *environment)
{
    AUTO_JSON json_t *names = process_layer_names(environment->absent);
    AUTO_FREE char *absent = json_list(names);
    AUTO_FREE char *text = memory_format("without: %s", absent);

    if (!*absent)
        return;
    command_print_line("no", "  preparation", text);
    command_doctor_note_absent(doctor, environment, "packages are installed", absent);
}

/* The devices that the trial could use, and why not. */
static void command_doctor_print_devices(const struct environment *environment,
                                         const struct doctor_trial *trial)
{
    AUTO_FREE char *devices = json_list(trial->receipt.devices);
    const bool is_here = !node_environment_is_wanted(environment->definition);
    AUTO_FREE char *problem =
        environment->settings.sandbox.gpu && is_here ? gpu_files_problem() : NULL;

    if (*devices && trial->has_started)
        command_print_line("", "  devices", devices);
    if (problem)
        command_print_line("no", "  gpu", problem);
}

/* Modules that its Python imports ahead of scripts, and modules that it must not import. */
static void command_doctor_print_preloads(const struct environment *environment)
{
    const char *python = environment->ops->describe_interpreter(environment);
    AUTO_JSON json_t *imports =
        python ? import_record_describe(environment->imports, python) : NULL;
    AUTO_FREE char *names = json_list(json_object_get(imports, "names"));
    const char *name;
    json_t *why;

    if (*names)
        command_print_line("", "  preload", names);
    json_object_foreach (json_object_get(imports, "refused"), name, why) {
        AUTO_FREE char *text = memory_format("%s: %s", name, json_string_value(why));

        command_print_line("no", "  preload", text);
    }
}

/* A limit that holds by other means is told with the features of the kernel. */
static void command_doctor_print_missing(const char *name, const json_t *missing)
{
    const json_t *what;
    size_t i;

    json_array_foreach (missing, i, what)
        if (!process_receipt_is_replaced(json_string_value(what)))
            command_print_line("no", name, json_string_value(what));
}

static void command_doctor_print_kernel(const struct environment *environment)
{
    struct error err = ERROR_INIT;

    if (kernel_search_check(environment, &err) < 0)
        command_print_line("no", "  kernel", err.message);
    else if (environment_kernel(environment))
        command_print_line("", "  kernel", environment_kernel(environment));
}

static void print_environment(struct doctor *doctor, struct environment *environment)
{
    AUTO(doctor_trial_deinit)
    struct doctor_trial trial = command_doctor_try(doctor, environment);

    if (doctor->interruption.signal)
        return;
    print_trial(doctor, environment, &trial);
    command_doctor_print_layers(doctor, environment, &trial);
    command_doctor_print_start(doctor, environment, &trial);
    command_doctor_print_preparation(doctor, environment);
    command_doctor_print_devices(environment, &trial);
    command_doctor_print_kernel(environment);
    if (!environment->settings.sandbox.is_wanted)
        return;
    command_doctor_print_preloads(environment);
    command_doctor_print_missing("  missing", trial.receipt.missing);
}

static void print_environments(struct doctor *doctor)
{
    const struct catalog *catalog = doctor->service.catalog;

    printf("environments\n");
    for (size_t i = 0; i < catalog_count(catalog) && !doctor->interruption.signal; i++) {
        recurrence_init(&doctor->recurrence);
        print_environment(doctor, catalog_at(catalog, i));
        recurrence_end(&doctor->recurrence);
        if (doctor->directory)
            working_directory_unref(STEAL_PTR(doctor->directory));
    }
}

static void print_containment(const struct doctor *doctor)
{
    const struct process_receipt receipt = process_host_receipt(doctor->service.host, NULL);

    printf("containment\n");
    command_print_line("", "process tree", process_receipt_tree(&receipt));
    command_print_line("", "limits", process_limiter_name(receipt.limiter));
    command_doctor_print_missing("missing", receipt.missing);
}

static void print_limits(const struct doctor *doctor)
{
    const struct environment *environment =
        catalog_find(doctor->service.catalog, doctor->service.default_environment);
    const struct environment_settings *settings = &environment->settings;
    AUTO_FREE char *memory = quantity_bytes(settings->limits.memory);
    AUTO_FREE char *disk = quantity_bytes(settings->disk);
    AUTO_FREE char *output = quantity_bytes(settings->output);
    AUTO_FREE char *text = memory_format(
        "%g seconds (at most %g), %s of memory, %u processes, %s of files, %s of each output",
        settings->timeout, settings->max_timeout, memory, settings->limits.processes, disk, output);

    command_print_line("", "limits of a run", text);
}

/* Whether a person is asked before a call's script runs. */
static void print_approval(const struct doctor *doctor)
{
    const struct catalog *catalog = doctor->service.catalog;

    printf("approval\n");
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);

        command_print_line("", environment->name,
                           approval_policy_name(environment->settings.approval));
    }
}

static void print_places(const struct config *config)
{
    const char *kind = json_object_get_string(config_tree(config), "working_directory");
    const char *home = getenv("HOME");
    struct error err = ERROR_INIT;
    AUTO_FREE char *state = strcmp(kind, "memory") == 0 ? state_directory_open_in_memory(&err)
                                                        : state_directory_open(&err);

    printf("places\n");
    command_print_line("", "configuration",
                       config_path(config) ? config_path(config) : "none: defaults");
    command_print_line(state ? "" : "no", "state", state ? state : err.message);
    command_print_line("", "work", kind);
    if (home && *home)
        command_print_line(
            "", "home", "no sandbox works in it: `pyexecd run` there takes a temporary directory");
}

static void print_service(struct doctor *doctor, struct config *config)
{
    executor_client_init(&doctor->client);
    doctor_venv_print(doctor->service.loop, doctor->service.host,
                      catalog_settings(doctor->service.catalog)->state);
    doctor_nodes_print(&(struct doctor_nodes){
        .loop = doctor->service.loop,
        .nodes = doctor->service.nodes,
        .definitions = json_object_get(config_tree(config), "nodes"),
        .verdict = &doctor->verdict,
        .interruption = &doctor->interruption,
    });
    doctor_replicas_print(&(struct doctor_replicas){
        .loop = doctor->service.loop,
        .config = config,
        .verdict = &doctor->verdict,
        .interruption = &doctor->interruption,
    });
    print_environments(doctor);
    if (doctor->interruption.signal)
        return;
    doctor_tools_report(&doctor->service, &doctor->verdict);
    print_containment(doctor);
    print_limits(doctor);
    print_approval(doctor);
}

/* Prints the report. -1 with ERR when no environment can be tried. */
static int command_doctor_diagnose(struct doctor *doctor, struct config *config, struct error *err)
{
    int status;

    print_kernel(doctor);
    print_places(config);
    doctor_docker_print(json_object_get(config_tree(config), "environments"));
    status = service_open(&doctor->service, config, SERVICE_DROP_DIRECTORIES, NULL, err);
    if (status == 0)
        print_service(doctor, config);
    if (doctor->service.catalog && !doctor->interruption.signal &&
        named_files_check_directories(config) == 0)
        named_files_check_environments(&doctor->service, config);
    service_stop(&doctor->service);
    service_drain(&doctor->service);
    service_close(&doctor->service);
    return status;
}

/* The verdict comes first, and is known last. */
static int command_doctor_report(struct doctor *doctor, struct config *config, struct error *err)
{
    FILE *output = stdout;
    size_t length = 0;
    char *text = NULL;
    FILE *report = open_memstream(&text, &length);
    AUTO_FREE char *owned = NULL;
    int status;

    if (!report)
        return error_set_errno(err, errno, "cannot make a report");
    stdout = report;
    status = command_doctor_diagnose(doctor, config, err);
    stdout = output;
    fclose(report);
    owned = text;
    if (status < 0)
        doctor_verdict_add_fault(&doctor->verdict, "the server", err->message);
    else if (config_has_errors(config))
        doctor_verdict_add_fault(&doctor->verdict, "the configuration", "its errors stand below");
    puts("pyexecd " PYEXECD_VERSION);
    if (!doctor->interruption.signal)
        doctor_verdict_print(&doctor->verdict);
    fputs(owned, stdout);
    return status;
}

/* 0 when runs would be started, 1 when they would be refused, or the status of a failure. */
static int command_doctor_conclude(const struct doctor *doctor, const struct config *config,
                                   const struct error *err)
{
    const int printed = command_end_output();

    if (doctor->interruption.signal)
        return interruption_status(doctor->interruption.signal);
    if (config_has_errors(config))
        return command_fail_config(config);
    if (err->code != ERROR_NONE)
        return command_fail(err);
    return doctor_verdict_is_bad(&doctor->verdict) ? 1 : printed;
}

int command_doctor(const struct options *options)
{
    struct doctor doctor = {0};
    struct error err = ERROR_INIT;
    int status;
    struct config *config = command_load_config(options, &status);

    if (!config)
        return status;
    log_open(LOG_LEVEL_ERROR); /* the report prints missing features */
    doctor_verdict_init(&doctor.verdict);
    (void)command_doctor_report(&doctor, config, &err);
    status = command_doctor_conclude(&doctor, config, &err);
    doctor_verdict_deinit(&doctor.verdict);
    config_free(config);
    return status;
}
