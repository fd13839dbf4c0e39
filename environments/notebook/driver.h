/* The program of ours that the Python of a session executes (begin.py, driver.py). */
#pragma once

/* The name by which a zygote imports most of it ahead (base/starter/preload.py). */
#define NOTEBOOK_MODULE "pyexecd session"

extern const char notebook_driver[];
