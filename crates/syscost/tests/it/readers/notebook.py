"""Runs the code of a notebook on an export, and prints what it drew: the points of each line."""

import json
import os
import sys

notebook, export, figure = sys.argv[1], *sys.stdin.read().splitlines()
os.environ.update(SYSCOST_CSV=export, SYSCOST_FIGURE=figure, MPLBACKEND="agg")
cells = json.load(open(notebook, encoding="utf-8"))["cells"]
names = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)  # The notebook of this repository.
lines = names["axes"].get_lines()
json.dump({line.get_label(): [list(map(float, point)) for point in line.get_xydata()] for line in lines}, sys.stdout)
