"""perl: a program with regular expressions, hashes, files and a process."""
import subprocess

PROGRAM = r"""
use strict; use warnings; use POSIX qw(floor); use File::Temp qw(tempfile); use Data::Dumper;
my %count; $count{$_}++ for "the cat and the dog" =~ /(\w+)/g;
print join(",", map {"$_=$count{$_}"} sort keys %count), "\n";
my ($handle, $name) = tempfile(UNLINK => 1); print $handle "kept\n"; close $handle;
open(my $in, '<', $name) or die; print <$in>; print floor(3.7), "\n"; print `echo from a shell`;
open(my $out, '>', "of_perl.txt") or die; print $out "text\n"; close $out; exit 2;
"""
done = subprocess.run(["perl", "-e", PROGRAM], capture_output=True, text=True)
print(done.returncode, done.stdout, done.stderr)
