-- The machines that are not like the others of their kind, and the rows in which they differ: the
-- list of `syscost fleet report`, as one query over the tables `runs` and `measurements` of
-- `syscost export --format parquet`. It runs unchanged in DuckDB and in Spark; docs/fleet.md says how,
-- and why it is computed so.
WITH
-- Each machine's latest run. Machines are alike if all these facts are equal: choose others here.
latest AS (
  SELECT run, hostname, core_ours_percent,
    concat_ws(' | ', coalesce(arch, '-'), coalesce(cpu_model, '-'), coalesce(CAST(cpus_online AS STRING), '-'),
      coalesce(hypervisor, '-'), coalesce(product, '-')) AS cohort,
    row_number() OVER (PARTITION BY hostname ORDER BY started DESC, run DESC) AS age
  FROM runs
  WHERE hostname <> ''
),
-- A machine whose cores were its own much less of the time than those of half of its cohort cannot be
-- judged.
usual AS (
  SELECT cohort, median(core_ours_percent) AS core_ours_percent
  FROM latest WHERE age = 1 GROUP BY cohort
),
machines AS (
  SELECT latest.run, latest.hostname, latest.cohort
  FROM latest JOIN usual ON latest.cohort = usual.cohort
  WHERE latest.age = 1
    AND coalesce(latest.core_ours_percent >= usual.core_ours_percent - 20, TRUE)
),
-- The figures beyond doubt: logarithms, and their standard errors by their 95 % intervals.
figures AS (
  SELECT machines.hostname, machines.cohort, m.name, m.revision, m.unit, m.better,
    ln(m.median) AS log,
    greatest(ln(m.ci95_high) - ln(m.ci95_low), 0e0) / (2 * 1.959964e0) AS error
  FROM measurements AS m JOIN machines ON m.run = machines.run AND m.hostname = machines.hostname
  WHERE m.status = 'ok' AND m.evidence = 'confirmed' AND m.unit <> '%'
    AND m.median > 0 AND m.ci95_low > 0 AND m.ci95_high > 0
    AND concat(' ', m.flags, ' ') NOT LIKE '% disturbed %'
    AND concat(' ', m.flags, ' ') NOT LIKE '% too_few_rounds %'
    AND concat(' ', m.flags, ' ') NOT LIKE '% low_trust %'
    AND concat(' ', m.flags, ' ') NOT LIKE '% noisy %'
),
-- What five machines or more say of a row: the median, and how far they are apart.
middles AS (
  SELECT cohort, name, revision, unit, median(log) AS middle, CAST(count(*) AS DOUBLE) AS n
  FROM figures GROUP BY cohort, name, revision, unit HAVING count(*) >= 5
),
away AS (
  SELECT f.hostname, f.cohort, f.name, f.revision, f.unit, f.better, f.error, f.log - m.middle AS log, m.n
  FROM figures AS f JOIN middles AS m
    ON f.cohort = m.cohort AND f.name = m.name AND f.revision = m.revision AND f.unit = m.unit
),
scales AS (
  SELECT cohort, name, revision, unit, max(n) AS n,
    greatest(1.4826e0 * max(n) / (max(n) - 0.8e0) * median(abs(log)), 0.005e0) AS scale,
    percentile_cont(0.9) WITHIN GROUP (ORDER BY abs(log)) AS nine_of_ten
  FROM away GROUP BY cohort, name, revision, unit
),
-- How heavy the tails are, by the reach of nine of ten deviations in the middle row.
tails AS (
  SELECT cohort, 1 + 1.3e0 / greatest(median(1.4826e0 * nine_of_ten / scale) - 2.439e0, 1e-9) AS nu
  FROM scales WHERE n >= 20 GROUP BY cohort
),
-- How far each figure is beyond 2 %, in standard deviations, and the chance of so much: Student's
-- distribution by Wallace (1959), the normal one by Press et al. (1992).
distances AS (
  SELECT a.hostname, a.cohort, a.name, a.revision, a.unit, a.better, a.log,
    sqrt(a.error * a.error + 1.2533e0 * s.scale * 1.2533e0 * s.scale / a.n) AS error,
    greatest(abs(a.log) - 0.02e0, 0e0) / sqrt(s.scale * s.scale + a.error * a.error) AS t,
    greatest(least(0.37e0 * (a.n - 1), 30e0, coalesce(tails.nu, 30e0)), 3e0) AS nu
  FROM away AS a JOIN scales AS s
    ON a.cohort = s.cohort AND a.name = s.name AND a.revision = s.revision AND a.unit = s.unit
  LEFT JOIN tails ON a.cohort = tails.cohort
),
normal AS (
  SELECT *, (8 * nu + 1) / (8 * nu + 3) * sqrt(nu * ln(1 + t * t / nu)) / sqrt(2e0) AS x
  FROM distances
),
halves AS (
  SELECT *, 1 / (1 + 0.5e0 * x) AS h FROM normal
),
chances AS (
  SELECT hostname, cohort, name, revision, unit, better, log, error,
    CASE WHEN t <= 0 THEN 1e0 ELSE least(1e0, h * exp(-x * x - 1.26551223e0
      + h * (1.00002368e0 + h * (0.37409196e0 + h * (0.09678418e0 + h * (-0.18628806e0 + h * (0.27886807e0
      + h * (-1.13520398e0 + h * (1.48851587e0 + h * (-0.82215223e0 + h * 0.17087277e0)))))))))) END AS p
  FROM halves
),
-- Within each machine: Simes (1986), one chance for all its rows.
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY hostname ORDER BY p) AS place,
    count(*) OVER (PARTITION BY hostname) AS tests
  FROM chances
),
together AS (
  SELECT hostname, least(1e0, min(p * tests / place)) AS p FROM ranked GROUP BY hostname
),
-- Over all machines: Benjamini and Hochberg (1995), at 5 %.
placed AS (
  SELECT hostname, p, row_number() OVER (ORDER BY p) AS place, count(*) OVER () AS machines
  FROM together
),
limits AS (
  SELECT max(p) AS p FROM placed WHERE p <= 0.05e0 * place / machines
),
accused AS (
  SELECT placed.hostname, 0.05e0 * count(*) OVER () / placed.machines AS rate
  FROM placed CROSS JOIN limits WHERE placed.p <= limits.p
),
-- Within the accused: the same over rows, at 5 % times the share of machines accused (Benjamini and
-- Bogomolov 2014).
row_limits AS (
  SELECT ranked.hostname, max(ranked.p) AS p
  FROM ranked JOIN accused ON ranked.hostname = accused.hostname
  WHERE ranked.p <= accused.rate * ranked.place / ranked.tests
  GROUP BY ranked.hostname
)
SELECT r.hostname, r.cohort, r.name, r.unit,
  100 * (exp(r.log) - 1) AS percent,
  100 * (exp(r.log - 1.959964e0 * r.error) - 1) AS percent_low,
  100 * (exp(r.log + 1.959964e0 * r.error) - 1) AS percent_high,
  (r.log > 0) = (r.better = 'lower') AS is_worse
FROM ranked AS r JOIN row_limits ON r.hostname = row_limits.hostname AND r.p <= row_limits.p
ORDER BY r.hostname, abs(r.log) DESC, r.name
