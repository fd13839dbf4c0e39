/* The files in which pip and uv look for settings. They are the operator's, and tell an installer
 * which programs to execute and where packages come from. */
#pragma once

struct script_places;

/* FOUND is called with DATA for each path, missing ones too. Variables of the installers may name
 * others. */
void installer_settings_each(void *data, void (*found)(void *data, const char *path));

/* Returns a file of settings that lies in one of PLACES or is reached through one: no settings
 * count then. Owned by the caller; NULL: there is none. */
char *installer_settings_find_written(const struct script_places *places);
