#include "environments/run_files.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "environments/environment.h"
#include "environments/workplace/provided_files.h"

#define RUN_FUNCTIONS "functions.py"

/* The module that the operator gives to the scripts of the environment. */
static int run_files_put_functions(const char *functions, const struct working_directory *directory,
                                   struct error *err)
{
    AUTO_JSON json_t *files = NULL;

    if (!functions)
        return 0;
    files = json_pack("[{s:s, s:s}]", "path", RUN_FUNCTIONS, "text", functions);
    return provided_files_put(files, directory, err);
}

/* The files of a call do not count as growth of its run: without this check each call could bring a
 * message full of files. */
static int run_files_check_share(const struct working_directory *directory, const json_t *files,
                                 struct error *err)
{
    const struct disk_share share = working_directory_share(directory);
    AUTO_FREE char *text = NULL;

    if (!share.is_used_up || provided_files_check(files, DISK_SHARE_TIDYING_BYTES, err) == 0)
        return 0;
    text = disk_share_text(&share);
    return error_prefix(err, "%s", text);
}

/* The user that runs the scripts gets access to the files. */
int run_files_put(const struct environment *environment, const struct working_directory *directory,
                  const json_t *files, struct error *err)
{
    const char *functions = environment->settings.functions;

    if (!files && !functions)
        return 0;
    if (run_files_check_share(directory, files, err) < 0)
        return -1;
    if (environment_admit(environment, working_directory_path(directory), err) < 0 ||
        run_files_put_functions(functions, directory, err) < 0)
        return -1;
    return provided_files_put(files, directory, err);
}
