#include "environments/process/tree_private.h"

struct tree_wish tree_wish_of(const struct process_sandbox *sandbox)
{
    if (!sandbox)
        return (struct tree_wish){0};
    return (struct tree_wish){
        .sandbox = LAYERS_OF_SANDBOX & ~(sandbox->network * (unsigned)LAYER_NETWORK),
        .all = sandbox->required,
        .needed = sandbox->outlet > 0 ? LAYER_NETWORK : 0,
    };
}

/* Code is laid over a file in a mount namespace, which comes with the PID namespace. */
struct tree_wish tree_wish_of_command(const struct process_command *command)
{
    struct tree_wish wish = tree_wish_of(command->sandbox);

    if (command->script)
        wish.needed |= LAYER_PID_NAMESPACE;
    return wish;
}
