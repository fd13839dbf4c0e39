#include "server/commands/command_sender.h"

#include "base/cleanup.h"
#include "server/service.h"
#include "server/tools/caller.h"
#include "server/transport/socket/peer.h"

static void command_sender_on_called(struct script_sender *sender, const char *tool)
{
    (void)sender;
    (void)tool; /* the log has it */
}

static const char *command_sender_ask(struct script_sender *sender,
                                      struct script_question *question)
{
    (void)sender;
    (void)question;
    return "a person has to approve it, and nobody is asked here; `approval` in the configuration "
           "decides";
}

void command_sender_init(struct script_sender *sender)
{
    *sender = (struct script_sender){
        .called = command_sender_on_called,
        .ask = command_sender_ask,
    };
}

struct script_tools *command_sender_open_tools(struct service *service,
                                               const struct environment *environment)
{
    AUTO_FREE char *name = peer_own_principal();
    const struct principal principal = {.name = name};

    return script_channel_open(&service->channels, environment, &principal);
}
