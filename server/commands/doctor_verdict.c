#include "server/commands/doctor_verdict.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/printable.h"
#include "server/commands/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void doctor_verdict_init(struct doctor_verdict *verdict)
{
    *verdict = (struct doctor_verdict){json_array(), json_array(), json_object()};
}

void doctor_verdict_deinit(struct doctor_verdict *verdict)
{
    json_decref(verdict->faults);
    json_decref(verdict->lacks);
    json_decref(verdict->remedies);
}

void doctor_verdict_add_fault(struct doctor_verdict *verdict, const char *name, const char *why)
{
    json_array_append_new(verdict->faults,
                          json_pack("[s, o]", name, json_string_repaired(why, strlen(why))));
}

void doctor_verdict_add_lack(struct doctor_verdict *verdict, const char *text, const char *remedy)
{
    const bool is_new = remedy && !json_object_get(verdict->remedies, remedy);

    if (is_new)
        json_object_set_new(verdict->remedies, remedy, json_true());
    json_array_append_new(verdict->lacks, json_pack("[s, s?]", text, is_new ? remedy : NULL));
}

bool doctor_verdict_is_bad(const struct doctor_verdict *verdict)
{
    return json_array_size(verdict->faults) > 0;
}

static void doctor_verdict_print_faults(const struct doctor_verdict *verdict)
{
    const json_t *fault;
    size_t i;

    json_array_foreach (verdict->faults, i, fault)
        command_print_line("no", json_string_value(json_array_get(fault, 0)),
                           json_string_value(json_array_get(fault, 1)));
}

static void doctor_verdict_print_lacks(const struct doctor_verdict *verdict)
{
    const json_t *lack;
    size_t i;

    json_array_foreach (verdict->lacks, i, lack) {
        AUTO_FREE char *text = memory_copy_string(json_string_value(json_array_get(lack, 0)));
        const char *remedy = json_string_value(json_array_get(lack, 1));

        printable_clean(text); /* it may be what another machine says */
        command_print_line("", text, "");
        if (remedy)
            command_print_line("", "  gives more", remedy);
    }
}

void doctor_verdict_print(const struct doctor_verdict *verdict)
{
    if (doctor_verdict_is_bad(verdict))
        puts("not ready, because");
    else
        puts(json_array_size(verdict->lacks) > 0 ? "ready, but" : "ready");
    doctor_verdict_print_faults(verdict);
    doctor_verdict_print_lacks(verdict);
}
