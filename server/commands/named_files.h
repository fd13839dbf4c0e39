/* Checks that the files, directories, volumes and Pythons that a configuration names exist and fit
 * their use. Nothing is made, pulled or installed by looking. */
#pragma once

struct config;
struct service;

/* Looks for the directories that calls use, before anything opens them. Complains in CONFIG; -1 if
 * opening would make a directory whose path is only a mistake. */
int named_files_check_directories(struct config *config);

/* Looks for the files that the environments of SERVICE name. Complains in CONFIG. */
void named_files_check_environments(struct service *service, struct config *config);
