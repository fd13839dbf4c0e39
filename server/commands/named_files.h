/* Whether what a configuration names is there and can be what it is named for: files, directories,
 * volumes, the Python of a venv. Nothing is made, pulled or installed by looking. */
#pragma once

struct config;
struct service;

/* Looks for the directories that calls use, before anything opens them. Complains in CONFIG; -1
 * where opening would make what is only a mistake. */
int named_files_check_directories(struct config *config);

/* Looks for what the environments of SERVICE name. Complains in CONFIG. */
void named_files_check_environments(struct service *service, struct config *config);
