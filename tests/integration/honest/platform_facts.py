"""platform, sys and sysconfig: the machine, the system and the interpreter, as scripts print them in reports."""
import os
import platform
import subprocess
import sys
import sysconfig

print(platform.system(), platform.machine(), platform.release(), platform.python_version(), platform.libc_ver())
print(platform.architecture(), platform.python_implementation(), platform.python_build())
print(platform.freedesktop_os_release()["ID"] if hasattr(platform, "freedesktop_os_release") else "linux")
print(platform.node() != "", os.uname().sysname, sys.version, sys.flags, sys.byteorder)
print(sysconfig.get_platform(), sorted(sysconfig.get_paths().items()), sys.executable, sys.prefix)
print(subprocess.run("uname -srm; getconf PAGESIZE; getconf _NPROCESSORS_CONF; dpkg --print-architecture; nproc",
                     shell=True, stdout=subprocess.PIPE, text=True).stdout)
