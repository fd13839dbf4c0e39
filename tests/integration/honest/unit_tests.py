"""unittest: cases, mocks, a failing test, tests that are discovered by a process."""
import io
import pathlib
import re
import subprocess
import sys
import unittest
import unittest.mock


class Numbers(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(sum([1, 2]), 3)

    def test_failing(self):
        self.assertEqual(1, 2)

    def test_mock(self):
        with unittest.mock.patch("os.getcwd", return_value="/elsewhere"):
            self.assertEqual(pathlib.os.getcwd(), "/elsewhere")


result = unittest.TextTestRunner(io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Numbers))
print(result.testsRun, len(result.failures), len(result.errors))
pathlib.Path("test_found.py").write_text("import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n")
done = subprocess.run([sys.executable, "-m", "unittest", "discover", "-v"], stderr=subprocess.PIPE, text=True)
print(done.returncode, re.sub(r"in [0-9.]+s", "", done.stderr))
