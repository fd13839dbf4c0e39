/* What is known about releases of runc, the program that most engines start containers with. */
#pragma once

/* "CVE-2024-21626 (fixed in 1.1.12), ...": the ways out of a container that the release VERSION
 * ("1.1.5+ds1") is known for; NULL when there are none, or it is no version. Distributions add the
 * fixes to a release without raising its version. Owned by the caller. */
char *runc_weaknesses(const char *version);
