/* `pyexecd --check-config`: every error of the configuration, including errors that otherwise
 * appear only in use: a missing interpreter, an unreadable token. */
#include "base/cleanup.h"
#include "base/curl/curl_library.h"
#include "base/json.h"
#include "base/log.h"
#include "environments/catalog/catalog.h"
#include "environments/gpu_files.h"
#include "server/authentication.h"
#include "server/commands/command.h"
#include "server/commands/named_files.h"
#include "server/commands/options.h"
#include "server/configuration/config.h"
#include "server/configuration/http_config.h"
#include "server/loop.h"
#include "server/replica_table.h"
#include "server/service.h"
#include "server/transport/http/tls.h"
#include "server/transport/identity/authority.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

/* One environment's preparation, waited for. */
struct check {
    struct environment_waiter waiter;
    struct ev_loop *loop; /* borrowed */
    struct error err;
    struct error_rest rest; /* of its message */
    enum outcome outcome;   /* PENDING until `prepared` came */
};

static void command_check_config_on_prepared(struct environment_waiter *waiter,
                                             const struct error *err)
{
    struct check *check = CONTAINER_OF(waiter, struct check, waiter);

    check->outcome = command_keep(err, &check->err);
    ev_break(check->loop, EVBREAK_ONE);
}

static void check_environment(struct service *service, struct config *config,
                              struct environment *environment)
{
    struct check check = {.waiter.prepared = command_check_config_on_prepared,
                          .loop = service->loop,
                          .err.rest = &check.rest};
    AUTO_FREE char *text = NULL;

    list_init(&check.waiter.link);
    check.outcome = environment_prepare(environment, &check.waiter, &check.err);
    while (check.outcome == OUTCOME_PENDING)
        ev_run(service->loop, 0);
    if (check.outcome != OUTCOME_FAILED)
        return;
    text = error_text(&check.err);
    config_complain(config, text, "/environments/%s/executable", environment->name);
}

static void command_check_config_check_environments(struct service *service, struct config *config)
{
    for (size_t i = 0; i < catalog_count(service->catalog); i++) {
        struct environment *environment = catalog_at(service->catalog, i);

        if (environment->ops->kind->is_checkable)
            check_environment(service, config, environment);
    }
}

/* An optional sandbox that the configuration leaves no way for. */
static void command_check_config_note(const struct environment *environment)
{
    if (environment->unheld)
        printf("environment %s: no sandbox: %s\n", environment->name, environment->unheld);
}

/* It may be plugged in, or given to the user, at any time. */
static void command_check_config_note_gpu(const struct environment *environment)
{
    const bool is_wanted = environment->settings.sandbox.gpu && !environment->ops->machines;
    AUTO_FREE char *problem = is_wanted ? gpu_files_problem() : NULL;

    if (problem)
        printf("environment %s: devices: %s\n", environment->name, problem);
}

/* It may be installed at any time. */
static void command_check_config_note_library(const struct environment *environment)
{
    struct error err = ERROR_INIT;

    if (environment->ops->kind->isolation == ISOLATION_DOCKER && curl_library_load(&err) < 0)
        printf("environment %s: %s\n", environment->name, err.message);
}

static void command_check_config_note_all(const struct catalog *catalog)
{
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        command_check_config_note(catalog_at(catalog, i));
        command_check_config_note_gpu(catalog_at(catalog, i));
        command_check_config_note_library(catalog_at(catalog, i));
    }
}

static void check_authentication(struct config *config)
{
    struct ev_loop *loop = loop_new();
    struct token_file tokens = {0};
    struct authority *authority = NULL;

    authentication_read_tokens(config, &tokens);
    authentication_open(loop, config, &tokens, &authority);
    authority_free(authority);
    token_file_deinit(&tokens);
    ev_loop_destroy(loop);
}

static void check_certificate(struct config *config)
{
    struct tls *tls = NULL;

    tls_config_open(config, &tls);
    tls_free(tls);
}

/* Opens everything as a server does, and looks at it. -1 with ERR. */
static int command_check_config_look(struct config *config, struct error *err)
{
    const char *directory = json_object_get_string(config_tree(config), "working_directory");
    bool is_new = access(directory, F_OK) < 0;
    struct service service;
    int status = service_open(&service, config, SERVICE_DROP_DIRECTORIES, NULL, err);

    if (service.catalog) {
        named_files_check_environments(&service, config);
        command_check_config_check_environments(&service, config);
        command_check_config_note_all(service.catalog);
    }
    service_stop(&service);
    service_drain(&service);
    service_close(&service);
    if (is_new)
        (void)rmdir(directory); /* looking leaves nothing behind */
    return status;
}

static int command_check_config_open(struct config *config)
{
    struct error err = ERROR_INIT;
    int status = 0;

    log_open(LOG_LEVEL_ERROR); /* a lacking kernel is no fault of the configuration */
    check_authentication(config);
    replica_table_check(config);
    check_certificate(config);
    if (named_files_check_directories(config) == 0)
        status = command_check_config_look(config, &err);
    if (config_has_errors(config))
        return command_fail_config(config);
    if (status < 0)
        return command_fail(&err);
    printf("%s: ok\n", config_path(config) ? config_path(config) : "no configuration file");
    return command_end_output();
}

int command_check_config(const struct options *options)
{
    int status;
    struct config *config = command_load_config(options, &status);

    if (!config)
        return status;
    status = command_check_config_open(config);
    config_free(config);
    return status;
}
