/* Prints filter_programs.c. It runs on the machine that builds; the filters are for ARCHITECTURE.
 *
 *     filter-compiler ARCHITECTURE >filter_programs.c
 */
#include "environments/process/filter/filter_branches.h"
#include "environments/process/filter/filter_code.h"
#include "environments/process/filter/filter_rule.h"

#include <seccomp.h>
#include <stdio.h>
#include <string.h>

struct compiler_target {
    const char *name;    /* Meson's */
    uint32_t native;     /* libseccomp's number is the kernel's */
    uint32_t compatible; /* its 32-bit programs */
};

static const struct compiler_target compiler_targets[] = {
    {"x86_64", SCMP_ARCH_X86_64, SCMP_ARCH_X86},
    {"aarch64", SCMP_ARCH_AARCH64, SCMP_ARCH_ARM},
};

static const struct filter_rules *const compiler_filters[] = {
    &kernel_filter, &process_filter,    &sandbox_filter,     &offline_filter, &zygote_filter,
    &worker_filter, &supervisor_filter, &shared_root_filter, &proxy_filter,
};

enum {
    TARGETS = sizeof compiler_targets / sizeof *compiler_targets,
    FILTERS = sizeof compiler_filters / sizeof *compiler_filters,
};

static const struct compiler_target *compiler_find_target(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(compiler_targets[i].name, name) == 0)
            return &compiler_targets[i];
    return NULL;
}

static int compiler_add(struct filter_code *code, const struct filter_rules *rules,
                        uint32_t architecture)
{
    static struct filter_branches branches;
    const char *name;

    if (filter_branches_init(&branches, rules, architecture, &name) < 0) {
        fprintf(stderr, "%s: no such system call: %s\n", rules->name, name);
        return -1;
    }
    filter_code_add(code, architecture, &branches);
    return 0;
}

static int compiler_translate(struct filter_code *code, const struct filter_rules *rules,
                              const struct compiler_target *target)
{
    filter_code_init(code);
    if (!rules->is_native_only && compiler_add(code, rules, target->compatible) < 0)
        return -1;
    if (compiler_add(code, rules, target->native) < 0)
        return -1;
    filter_code_finish(code);
    return 0;
}

static void compiler_print(const struct filter_code *code, const char *name)
{
    printf("    [%s] = {%zu, (struct sock_filter[]){\n", name, BPF_MAXINSNS - code->first);
    for (size_t i = code->first; i < BPF_MAXINSNS; i++) {
        const struct sock_filter *one = &code->instructions[i];

        printf("        {0x%02x, %u, %u, 0x%08x},\n", one->code, one->jt, one->jf, one->k);
    }
    puts("    }},");
}

static int compiler_print_all(const struct compiler_target *target)
{
    static struct filter_code code;

    puts("/* Made by filter_compiler.c. */\n"
         "#include \"environments/process/filter/filter.h\"\n"
         "#include \"environments/process/filter/filter_programs.h\"\n\n"
         "const struct sock_fprog filter_programs[] = {");
    for (size_t i = 0; i < FILTERS; i++) {
        if (compiler_translate(&code, compiler_filters[i], target) < 0)
            return -1;
        compiler_print(&code, compiler_filters[i]->name);
    }
    puts("};");
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    const struct compiler_target *target = argc == 2 ? compiler_find_target(argv[1]) : NULL;

    if (!target) {
        fputs("usage: filter-compiler x86_64|aarch64\n", stderr);
        return 2;
    }
    return compiler_print_all(target) < 0 ? 1 : 0;
}
