/* The programs of ours that the Python of a session executes. */
#pragma once

/* The name by which a zygote imports most of it ahead (base/starter/preload.py). */
#define NOTEBOOK_MODULE "pyexecd session"

extern const char notebook_driver[];        /* begin.py, driver.py */
extern const char notebook_kernel_driver[]; /* kernel.py, whose argument names a Jupyter kernel */
