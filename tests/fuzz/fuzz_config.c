/* A configuration file: whatever is in it, there are either errors or a complete tree. */
#include "base/cleanup.h"
#include "base/json.h"
#include "server/configuration/config.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config *config = config_parse("c.yaml", (const char *)data, size);
    AUTO_FREE char *errors = config_error_text(config);

    if (config_has_errors(config) != (*errors != '\0'))
        abort();
    if (!config_has_errors(config) &&
        !json_object_get_string(config_tree(config), "default_environment"))
        abort();
    config_free(config);
    return 0;
}
