"""What psutil, resource monitors and profilers read of /proc."""
import os
import pathlib

proc = pathlib.Path("/proc")
own = proc / "self"
print(os.readlink(own) == str(os.getpid()), (own / "comm").read_text().startswith("python"))
fields = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
print(fields["Pid"].strip() == str(os.getpid()), fields["Threads"].strip(), int(fields["VmRSS"].split()[0]) > 1000)
print(b"python" in (own / "cmdline").read_bytes(), os.path.exists(own / "exe"), len(os.listdir(own / "fd")) >= 3)
print(os.readlink(own / "cwd") == os.getcwd(), b"PATH=" in (own / "environ").read_bytes())
print("[heap]" in (own / "maps").read_text(), "Rss:" in (own / "smaps_rollup").read_text())
print(len((own / "stat").read_text().rpartition(")")[2].split()) > 40, len((own / "statm").read_text().split()))
print(len(os.listdir(own / "task")), (own / "limits").read_text().splitlines()[0].split())
for name in ("meminfo", "cpuinfo", "stat", "uptime", "loadavg", "version", "filesystems", "mounts"):
    print(name, len((proc / name).read_text()) > 10)
print((proc / "meminfo").read_text().split()[0], (proc / "sys/kernel/ostype").read_text())
print("lo:" in (proc / "net/dev").read_text(), str(os.getpid()) in os.listdir("/proc"))
print((proc / "sys/kernel/random/boot_id").read_text().count("-"), (proc / "sys/vm/overcommit_memory").read_text())
