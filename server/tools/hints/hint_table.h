/* The hints themselves; see hint.h. Each file has the hints of one matter. */
#pragma once

#include "server/tools/hints/hint.h"

/* hint_syntax.c: text that is no Python */
char *hint_removed_fence(const struct hint_facts *facts);
char *hint_removed_magic(const struct hint_facts *facts);
char *hint_fence(const struct hint_facts *facts);
char *hint_pip_command(const struct hint_facts *facts);
char *hint_shell_command(const struct hint_facts *facts);
char *hint_magic(const struct hint_facts *facts);
char *hint_await(const struct hint_facts *facts);
char *hint_prose(const struct hint_facts *facts);
char *hint_escaped(const struct hint_facts *facts);

/* hint_packages.c: packages that are not installed */
char *hint_module(const struct hint_facts *facts);
char *hint_optional_module(const struct hint_facts *facts);
char *hint_managed_python(const struct hint_facts *facts);
char *hint_unused_block(const struct hint_facts *facts);

/* hint_files.c */
char *hint_foreign_path(const struct hint_facts *facts);
char *hint_foreign_name(const struct hint_facts *facts);
char *hint_project(const struct hint_facts *facts);
char *hint_found_file(const struct hint_facts *facts);
char *hint_missing_file(const struct hint_facts *facts);
char *hint_own_file(const struct hint_facts *facts);
char *hint_lost_files(const struct hint_facts *facts);

/* hint_network.c */
char *hint_network(const struct hint_facts *facts);

/* hint_sandbox.c: closed places */
char *hint_missing_layer(const struct hint_facts *facts);
char *hint_hidden_path(const struct hint_facts *facts);
char *hint_own_tmp(const struct hint_facts *facts);
char *hint_home(const struct hint_facts *facts);
char *hint_read_only(const struct hint_facts *facts);
char *hint_left_directory(const struct hint_facts *facts);
char *hint_refused_call(const struct hint_facts *facts);
char *hint_system_packages(const struct hint_facts *facts);
char *hint_administrator(const struct hint_facts *facts);

/* hint_limits.c */
char *hint_threads(const struct hint_facts *facts);
char *hint_memory(const struct hint_facts *facts);
char *hint_timeout(const struct hint_facts *facts);

/* hint_habits.c: habits from a desk or a notebook */
char *hint_undefined_name(const struct hint_facts *facts);
char *hint_left_running(const struct hint_facts *facts);
char *hint_notebook(const struct hint_facts *facts);
char *hint_crash(const struct hint_facts *facts);

/* hint_expression.c */
char *hint_bare_expression(const struct hint_facts *facts);

/* hint_values.c */
char *hint_input(const struct hint_facts *facts);
char *hint_standard_input(const struct hint_facts *facts);
char *hint_arguments(const struct hint_facts *facts);
char *hint_variable(const struct hint_facts *facts);

/* hint_screen.c */
char *hint_screen(const struct hint_facts *facts);
