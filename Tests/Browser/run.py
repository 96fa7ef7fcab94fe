"""Runs the browser tests: every function `test_…` of the modules `*_tests.py` in this folder, with a furnished house.

    run.py [PATTERN]     those whose name has PATTERN in it

A picture of the page is left in .build/browser for a test that fails.
"""
import importlib
import pathlib
import signal
import sys
import time
import traceback

from browser import Fault, World
from house import House

FOLDER = pathlib.Path(__file__).resolve().parent


def tests(pattern):
    for file in sorted(FOLDER.glob("*_tests.py")):
        module = importlib.import_module(file.stem)
        for name, function in list(vars(module).items()):
            if name.startswith("test_") and pattern.replace(" ", "_") in f"{file.stem}.{name}":
                yield f"{file.stem}: {name.removeprefix('test_').replace('_', ' ')}", function


def main(pattern=""):
    began = time.monotonic()
    # Whoever ends this wants no folder left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("The browser tests were ended."))
    house = House()
    house.furnish()
    world = World(house)
    print(f"  {time.monotonic() - began:5.1f} s  the house is furnished", flush=True)
    failed, count = [], 0
    for name, test in tests(pattern):
        count += 1
        began_test = time.monotonic()
        world.test = test.__name__
        try:
            test(world)
            print(f"  {time.monotonic() - began_test:5.1f} s  {name}", flush=True)
        except Exception as error:
            failed.append(name)
            print(f"  FAILED   {name}: {error if isinstance(error, Fault) else traceback.format_exc()}", flush=True)
    world.end()
    house.end()
    if not count:
        sys.exit(f"No test has \"{pattern}\" in its name.")
    print(f"{count} browser tests, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:2])
