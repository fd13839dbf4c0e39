/* The part of the disk that the working directories of one principal may take.
 *
 * As soon as more than one principal has called, each has a share. A principal has used it up when
 * its directories take more bytes than are still free on the disk: it gets no new directory, and a
 * run in an earlier one may add little to it. So one principal cannot fill the disk for all others,
 * and nothing is removed before its time. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that a run may still add to an earlier directory, so that it can remove files there. */
enum { DISK_SHARE_TIDYING_BYTES = 1 << 20 };

struct disk_share {
    uint64_t taken; /* bytes, in all directories of the principal, as far as it is known */
    uint64_t free;  /* bytes of the disk; UINT64_MAX: nobody else has called */
    bool is_used_up;
};

/* The share of a principal whose directories take TAKEN, where FREE is left. */
struct disk_share disk_share_of(uint64_t taken, uint64_t free);

/* Bytes that can be written until SHARE is used up, if nobody else writes. */
uint64_t disk_share_left(const struct disk_share *share);

/* Why a share is used up, for the model: "your working directories take ...". Owned. */
char *disk_share_text(const struct disk_share *share);

/* Fails with ERROR_LIMIT when there is no new directory for the principal of SHARE. */
int disk_share_check(const struct disk_share *share, struct error *err);

/* Bytes in use on the file system that FD is on; 0 where it does not tell. */
uint64_t disk_space_used(int fd);

/* Bytes that everybody may still use there; UINT64_MAX where it does not tell. */
uint64_t disk_space_free(int fd);
