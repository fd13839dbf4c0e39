#include "server/tools/limits.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_PER_MINUTE 60.0
#define BURST_PART         3.0 /* one part of this many may come at once */

/* The limits of a name. */
struct limits_entry {
    struct list link;
    char *name; /* owned; NULL: all others */
    struct principal_limits limits;
    char **environments; /* owned; NULL: all */
    char **tools;        /* likewise */
};

/* The recent calls of a name. The count falls at the rate at which calls are allowed. */
struct limits_account {
    struct list link;
    char *name; /* owned */
    double calls;
    double counted; /* when, on clock_seconds */
};

struct limits {
    struct list entries;  /* of struct limits_entry: owned */
    struct list accounts; /* of struct limits_account: owned */
};

/* Limits */

static bool is_for(const struct limits_entry *entry, const char *name)
{
    return entry->name && name ? strcmp(entry->name, name) == 0 : entry->name == name;
}

static struct limits_entry *find_entry(const struct limits *limits, const char *name)
{
    LIST_FOR_EACH (&limits->entries, link) {
        struct limits_entry *entry = CONTAINER_OF(link, struct limits_entry, link);

        if (is_for(entry, name))
            return entry;
    }
    return NULL;
}

static void entry_free(struct limits_entry *entry)
{
    if (!entry)
        return;
    memory_free_strings(entry->environments);
    memory_free_strings(entry->tools);
    list_remove(&entry->link);
    free(entry->name);
    free(entry);
}

void limits_set(struct limits *limits, const char *name, const struct principal_limits *own)
{
    struct limits_entry *entry = NEW(struct limits_entry);

    entry_free(find_entry(limits, name));
    entry->name = name ? memory_copy_string(name) : NULL;
    entry->environments = memory_copy_strings(own->environments);
    entry->tools = memory_copy_strings(own->tools);
    entry->limits = *own;
    entry->limits.environments = (const char *const *)entry->environments;
    entry->limits.tools = (const char *const *)entry->tools;
    list_append(&limits->entries, &entry->link);
}

static void entry_leave_no_tools(struct limits_entry *entry)
{
    static const char *const none[] = {NULL};

    memory_free_strings(entry->tools);
    entry->tools = memory_copy_strings(none);
    entry->limits.tools = (const char *const *)entry->tools;
}

void limits_clear(struct limits *limits)
{
    entry_free(find_entry(limits, NULL));
    LIST_FOR_EACH (&limits->entries, link)
        entry_leave_no_tools(CONTAINER_OF(link, struct limits_entry, link));
}

const struct principal_limits *limits_find(const struct limits *limits, const char *name)
{
    static const struct principal_limits none = {0};
    const struct limits_entry *entry = find_entry(limits, name);

    if (!entry)
        entry = find_entry(limits, NULL);
    return entry ? &entry->limits : &none;
}

/* Calls */

static void limits_account_free(struct limits_account *account)
{
    list_remove(&account->link);
    free(account->name);
    free(account);
}

/* The count of ACCOUNT at NOW. */
static double limits_level(const struct limits *limits, const struct limits_account *account,
                           double now)
{
    double rate = limits_find(limits, account->name)->calls_per_minute / SECONDS_PER_MINUTE;

    return rate > 0 ? fmax(account->calls - (now - account->counted) * rate, 0) : 0;
}

/* The account of NAME, made if there is none. Accounts that have fallen to zero are freed. */
static struct limits_account *limits_open_account(struct limits *limits, const char *name,
                                                  double now)
{
    struct limits_account *found = NULL;

    LIST_FOR_EACH_SAFE (&limits->accounts, link) {
        struct limits_account *account = CONTAINER_OF(link, struct limits_account, link);

        if (strcmp(account->name, name) == 0)
            found = account;
        else if (limits_level(limits, account, now) <= 0)
            limits_account_free(account);
    }
    if (found)
        return found;
    found = NEW(struct limits_account);
    found->name = memory_copy_string(name);
    found->counted = now;
    list_append(&limits->accounts, &found->link);
    return found;
}

int limits_admit_call(struct limits *limits, const char *name, struct error *err)
{
    double now = clock_seconds();
    unsigned per_minute = limits_find(limits, name)->calls_per_minute;
    double burst = fmax(floor(per_minute / BURST_PART), 1);
    struct limits_account *account;

    if (per_minute == 0)
        return 0;
    account = limits_open_account(limits, name, now);
    account->calls = limits_level(limits, account, now);
    account->counted = now;
    if (account->calls + 1 > burst)
        return error_set(err, ERROR_BUSY,
                         "too many calls: %u a minute are allowed; try again in %.0f s", per_minute,
                         ceil((account->calls + 1 - burst) / per_minute * SECONDS_PER_MINUTE));
    account->calls++;
    return 0;
}

/* Environments */

static bool limits_is_among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* "a, b". Owned by the caller. */
static char *limits_join(const char *const *names)
{
    char *list = memory_copy_string("");

    for (size_t i = 0; names[i]; i++) {
        AUTO_FREE char *before = list;

        list = memory_format("%s%s%s", before, i ? ", " : "", names[i]);
    }
    return list;
}

int limits_check_environment(const struct limits *limits, const char *name, const char *environment,
                             struct error *err)
{
    const char *const *allowed = limits_find(limits, name)->environments;
    AUTO_FREE char *names = allowed ? limits_join(allowed) : NULL;

    if (!allowed || (environment && limits_is_among(allowed, environment)))
        return 0;
    if (!environment)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "you may not define environments; you may use: %s", names);
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "you may not use environment \"%s\"; you may use: %s", environment, names);
}

/* The table */

struct limits *limits_new(void)
{
    struct limits *limits = NEW(struct limits);

    list_init(&limits->entries);
    list_init(&limits->accounts);
    return limits;
}

void limits_free(struct limits *limits)
{
    if (!limits)
        return;
    LIST_FOR_EACH_SAFE (&limits->entries, link) {
        entry_free(CONTAINER_OF(link, struct limits_entry, link));
    }
    LIST_FOR_EACH_SAFE (&limits->accounts, link) {
        limits_account_free(CONTAINER_OF(link, struct limits_account, link));
    }
    free(limits);
}
