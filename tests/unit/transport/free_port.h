/* A port of the loopback address. */
#pragma once

/* One that nobody listens on at this moment. */
unsigned free_port(void);
