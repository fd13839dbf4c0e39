/* The servers behind one balancer, from the configuration. */
#pragma once

#include <ev.h>

struct config;
struct replicas;

/* *RET is NULL where CONFIG names none. -1 after complaints in CONFIG. */
int replica_table_open(struct ev_loop *loop, struct config *config, struct replicas **ret);

/* Reads what replica_table_open would. -1 after complaints in CONFIG. */
int replica_table_check(struct config *config);
