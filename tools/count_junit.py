"""Counts the tests in a folder's JUnit files: prints "PASSED FAILED SKIPPED".

    python3 tools/count_junit.py FOLDER
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count(folder):
    passed = failed = skipped = 0
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            tags = {child.tag for child in case}
            if tags & {"failure", "error"}:
                failed += 1
            elif "skipped" in tags:
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


if __name__ == "__main__":
    print(*count(sys.argv[1]))
