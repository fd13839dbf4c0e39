"""os: how many CPUs there are and may be used, priorities, sizes, load, memory as libraries ask for it."""
import multiprocessing
import os
import time

print(os.cpu_count(), multiprocessing.cpu_count(), os.sched_getaffinity(0))
print(os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_NPROCESSORS_ONLN"), os.sysconf("SC_PHYS_PAGES") > 0)
print(len(os.getloadavg()), os.getpriority(os.PRIO_PROCESS, 0), os.nice(1), os.sched_getscheduler(0) == os.SCHED_OTHER)
cpu = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpu})
print(os.sched_getaffinity(0) == {cpu})
print(time.get_clock_info("monotonic").resolution, time.process_time() > 0, time.thread_time() > 0)
print(os.pathconf(".", "PC_NAME_MAX"), os.statvfs(".").f_bsize > 0, os.confstr("CS_PATH"))
