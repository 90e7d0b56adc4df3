"""Runs the queries of standard input, a list, over the tables in the folder given, in DuckDB and in Spark, and prints what
each returned, as JSON."""

import json
import sys

import duckdb
from pyspark.sql import SparkSession

folder = sys.argv[1]
queries = json.load(sys.stdin)
tables = ["runs", "measurements"]

database = duckdb.connect()
for table in tables:
    database.execute(f"CREATE VIEW {table} AS FROM read_parquet('{folder}/{table}.parquet')")

settings = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": f"{folder}/.spark",
    "spark.log.level": "ERROR",
}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
for table in tables:
    spark.read.parquet(f"{folder}/{table}.parquet").createOrReplaceTempView(table)

json.dump(
    {
        "duckdb": [database.execute(query).fetchall() for query in queries],
        "spark": [[list(row) for row in spark.sql(query).collect()] for query in queries],
    },
    sys.stdout,
    default=str,
)
