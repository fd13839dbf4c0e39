/* The names of packages as package indexes compare them. */
#pragma once

/* The name that REQUIREMENT begins with: in small letters, with "-" for any run of "-", "_" and
 * ".". Owned by the caller. */
char *package_name_normalize(const char *requirement);
