#include "environments/process/filter/filter_branches.h"

#include <assert.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_NEWER_CALL = 451 };

/* x32, a second way into the calls of x86-64: their numbers with this bit. */
enum { FIRST_OF_X32 = 0x40000000 };

/* A tracer has set this number so that no call is made. */
static const uint32_t no_call = UINT32_MAX;

/* Calls that are newer than the libseccomp of Debian 12, so that all builds have the same filters.
 * Since Linux 5.4 a new call has the same number on every architecture. */
static const char *const newer_calls[FILTER_CALLS - FIRST_NEWER_CALL] = {
    "cachestat",         "fchmodat2",         "map_shadow_stack", "futex_wake",
    "futex_wait",        "futex_requeue",     "statmount",        "listmount",
    "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
    "setxattrat",        "getxattrat",        "listxattrat",      "removexattrat",
    "open_tree_attr",    "file_getattr",      "file_setattr",
};

/* The name of call NUMBER of ARCHITECTURE (SCMP_ARCH_X), owned by the caller; NULL: there is none.
 */
static char *filter_call_name(uint32_t architecture, uint32_t number)
{
    if (number >= FIRST_NEWER_CALL)
        return number < FILTER_CALLS ? strdup(newer_calls[number - FIRST_NEWER_CALL]) : NULL;
    return seccomp_syscall_resolve_num_arch(architecture, (int)number);
}

static bool filter_call_is_newer(const char *name)
{
    for (size_t i = 0; i < FILTER_CALLS - FIRST_NEWER_CALL; i++)
        if (strcmp(newer_calls[i], name) == 0)
            return true;
    return false;
}

/* True when some architecture has a call NAME of LENGTH bytes. */
static bool filter_call_is_known(const char *name, size_t length)
{
    char *word = strndup(name, length);
    bool is_known = word && (filter_call_is_newer(word) ||
                             seccomp_syscall_resolve_name(word) != __NR_SCMP_ERROR);

    free(word);
    return is_known;
}

static bool rule_names(const struct filter_rule *rule, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = rule->calls; (at = strstr(at, name)); at += length)
        if ((at == rule->calls || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* Adds the rules for call NAME, from RULE on. True if a rule without a test was found: later rules
 * do not count. */
static bool branch_add_rules(struct filter_branch *branch, const struct filter_rule *rule,
                             const char *name)
{
    for (; rule->calls; rule++) {
        if (!rule_names(rule, name))
            continue;
        if (rule->test == FILTER_ALWAYS) {
            branch->answer = rule->answer;
            return true;
        }
        assert(branch->test_count < BRANCH_TESTS_MOST);
        branch->tests[branch->test_count++] = rule;
    }
    return false;
}

static struct filter_branch branch_of_call(const struct filter_rules *rules, uint32_t architecture,
                                           uint32_t number)
{
    struct filter_branch branch = {.first = number, .answer = rules->unknown};
    char *name = filter_call_name(architecture, number);

    if (!name)
        return branch;
    branch.answer = rules->otherwise;
    for (size_t i = 0; i < FILTER_TABLES && rules->tables[i]; i++)
        if (branch_add_rules(&branch, rules->tables[i], name))
            break;
    free(name);
    return branch;
}

static bool branch_is_like(const struct filter_branch *branch, const struct filter_branch *other)
{
    return branch->answer == other->answer && branch->test_count == other->test_count &&
           memcmp(branch->tests, other->tests, sizeof branch->tests) == 0;
}

static void branches_add(struct filter_branches *branches, struct filter_branch branch)
{
    if (branches->count > 0 && branch_is_like(&branches->all[branches->count - 1], &branch))
        return;
    assert(branches->count < BRANCHES_MOST);
    branches->all[branches->count++] = branch;
}

/* The first name in RULE that no architecture has, or NULL. */
static const char *rule_unknown_name(const struct filter_rule *rule)
{
    const char *name = rule->calls;

    while (*name) {
        const size_t length = strcspn(name, " ");

        if (!filter_call_is_known(name, length))
            return name;
        name += length + strspn(name + length, " ");
    }
    return NULL;
}

static const char *table_unknown_name(const struct filter_rule *rule)
{
    for (; rule->calls; rule++) {
        const char *name = rule_unknown_name(rule);

        if (name)
            return name;
    }
    return NULL;
}

static const char *rules_unknown_name(const struct filter_rules *rules)
{
    const char *name = NULL;

    for (size_t i = 0; i < FILTER_TABLES && rules->tables[i] && !name; i++)
        name = table_unknown_name(rules->tables[i]);
    return name;
}

int filter_branches_init(struct filter_branches *branches, const struct filter_rules *rules,
                         uint32_t architecture, const char **ret_name)
{
    const char *unknown = rules_unknown_name(rules);

    if (unknown) {
        *ret_name = unknown;
        return -1;
    }
    branches->count = 0;
    for (uint32_t number = 0; number < FILTER_CALLS; number++)
        branches_add(branches, branch_of_call(rules, architecture, number));
    branches_add(branches, (struct filter_branch){.first = FILTER_CALLS, .answer = rules->unknown});
    if (architecture != SCMP_ARCH_X86_64)
        return 0;
    branches_add(branches, (struct filter_branch){.first = FIRST_OF_X32, .answer = FILTER_KILL});
    branches_add(branches, (struct filter_branch){.first = no_call, .answer = rules->unknown});
    return 0;
}
