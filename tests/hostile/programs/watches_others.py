'''
tries = "to learn by a watch what files there are outside of its policy, and who opens them"
held_by = ["no watches in the machine's root"]
[outcome]
any = "-"  # its user may read them anyway
"sandbox landlock" = "exit 0: none"
'''
import ctypes

libc = ctypes.CDLL(None)
instance = libc.inotify_init()
watched = [place for place in (b"/", b"/etc", b"/home", b"/var", b"/var/log", b"/srv", b"/usr/bin", b"..", b".")
           if libc.inotify_add_watch(instance, place, 0xfff) >= 0]
print(watched or "none")
