"""Reads the tables in the folder given and prints what a test compares with the run document, as JSON."""

import json
import sys

import duckdb

folder = sys.argv[1]
database = duckdb.connect()
for table in ["runs", "measurements", "samples"]:
    database.execute(f"CREATE VIEW {table} AS FROM '{folder}/{table}.parquet'")


def rows(query):
    return database.execute(query).fetchall()


# Every column by its bare name: none may be a reserved word.
for table in ["runs", "measurements", "samples"]:
    names = ", ".join(row[0] for row in rows(f"DESCRIBE {table}"))
    rows(f"SELECT {names} FROM {table} LIMIT 0")

recipe = sys.stdin.read()
json.dump(
    {
        "recipe": rows(recipe),
        "types": {
            table: {row[0]: row[1] for row in rows(f"DESCRIBE {table}")}
            for table in ["runs", "measurements", "samples"]
        },
        "runs": rows("SELECT run, hostname, epoch_us(started), rows_ok FROM runs ORDER BY run"),
        "measurements": rows(
            "SELECT name, status, reason, median, ci95_high FROM measurements JOIN runs USING (run) ORDER BY run, name"
        ),
        "samples": rows("SELECT name, count(*), sum(value), max(iterations) FROM samples GROUP BY name ORDER BY name"),
    },
    sys.stdout,
)
