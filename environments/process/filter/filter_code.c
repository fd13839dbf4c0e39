#include "environments/process/filter/filter_code.h"

#include <assert.h>
#include <linux/seccomp.h>

enum {
    CODE_LOAD = BPF_LD | BPF_W | BPF_ABS,
    CODE_RETURN = BPF_RET | BPF_K,
    CODE_JUMP = BPF_JMP | BPF_JA,
    CODE_IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
    CODE_IF_AT_LEAST = BPF_JMP | BPF_JGE | BPF_K,
    CODE_IF_HAS = BPF_JMP | BPF_JSET | BPF_K,
    FARTHEST_BRANCH = UINT8_MAX, /* that a condition reaches; a jump reaches farther */
};

static void code_put(struct filter_code *code, struct sock_filter instruction)
{
    assert(code->first > 0);
    code->instructions[--code->first] = instruction;
}

static void code_put_load(struct filter_code *code, size_t offset)
{
    code_put(code, (struct sock_filter){.code = CODE_LOAD, .k = (uint32_t)offset});
}

static void code_put_answer(struct filter_code *code, int answer)
{
    uint32_t action = SECCOMP_RET_ERRNO | (uint32_t)answer;

    if (answer == FILTER_ALLOW)
        action = SECCOMP_RET_ALLOW;
    if (answer == FILTER_KILL)
        action = SECCOMP_RET_KILL_PROCESS;
    code_put(code, (struct sock_filter){.code = CODE_RETURN, .k = action});
}

/* Leaves out the next LENGTH instructions if OPERATION finds VALUE. */
static void code_skip_if(struct filter_code *code, uint16_t operation, uint32_t value,
                         size_t length)
{
    const bool is_near = length <= FARTHEST_BRANCH;

    if (!is_near)
        code_put(code, (struct sock_filter){.code = CODE_JUMP, .k = (uint32_t)length});
    code_put(code, (struct sock_filter){.code = operation,
                                        .jt = is_near ? (uint8_t)length : 0,
                                        .jf = is_near ? 0 : 1,
                                        .k = value});
}

/* Leaves out the next LENGTH instructions unless OPERATION finds VALUE. */
static void code_skip_unless(struct filter_code *code, uint16_t operation, uint32_t value,
                             size_t length)
{
    const bool is_near = length <= FARTHEST_BRANCH;

    if (!is_near)
        code_put(code, (struct sock_filter){.code = CODE_JUMP, .k = (uint32_t)length});
    code_put(code, (struct sock_filter){.code = operation,
                                        .jt = is_near ? 0 : 1,
                                        .jf = is_near ? (uint8_t)length : 0,
                                        .k = value});
}

static void code_put_test(struct filter_code *code, const struct filter_rule *rule)
{
    code_put_answer(code, rule->answer);
    if (rule->test == FILTER_IS)
        code_skip_unless(code, CODE_IF_EQUAL, rule->value, 1);
    else if (rule->test == FILTER_IS_NOT)
        code_skip_if(code, CODE_IF_EQUAL, rule->value, 1);
    else if (rule->test == FILTER_HAS)
        code_skip_unless(code, CODE_IF_HAS, rule->value, 1);
    else
        code_skip_if(code, CODE_IF_HAS, rule->value, 1);
}

/* The place of the lower half of ARGUMENT, on a little-endian machine. */
static size_t lower_half_of(unsigned argument)
{
    return offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
}

static void code_put_branch(struct filter_code *code, const struct filter_branch *branch)
{
    code_put_answer(code, branch->answer);
    for (size_t i = branch->test_count; i-- > 0;) {
        const unsigned argument = branch->tests[i]->argument;

        code_put_test(code, branch->tests[i]);
        if (i == 0 || branch->tests[i - 1]->argument != argument)
            code_put_load(code, lower_half_of(argument));
    }
}

/* The branches from FIRST up to END as a binary tree. */
static void code_put_tree(struct filter_code *code, const struct filter_branch *first,
                          const struct filter_branch *end)
{
    const struct filter_branch *middle = first + (end - first) / 2;
    size_t upper;

    if (end - first == 1) {
        code_put_branch(code, first);
        return;
    }
    code_put_tree(code, middle, end);
    upper = code->first;
    code_put_tree(code, first, middle);
    code_skip_if(code, CODE_IF_AT_LEAST, middle->first, upper - code->first);
}

void filter_code_init(struct filter_code *code)
{
    code->first = BPF_MAXINSNS;
    code_put_answer(code, FILTER_KILL);
}

void filter_code_add(struct filter_code *code, uint32_t architecture,
                     const struct filter_branches *branches)
{
    const size_t others = code->first;

    code_put_tree(code, branches->all, branches->all + branches->count);
    code_put_load(code, offsetof(struct seccomp_data, nr));
    code_skip_unless(code, CODE_IF_EQUAL, architecture, others - code->first);
}

void filter_code_finish(struct filter_code *code)
{
    code_put_load(code, offsetof(struct seccomp_data, arch));
}
