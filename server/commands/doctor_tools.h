/* The part of `pyexecd doctor` about the servers whose tools scripts may call. */
#pragma once

struct doctor_verdict;
struct service;

/* Reaches each of them. Prints nothing if there are none. */
void doctor_tools_report(struct service *service, struct doctor_verdict *verdict);
