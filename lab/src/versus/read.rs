//! Reads a peer's figure from its output: nanoseconds per operation, or what our row has per second.

use serde::Deserialize;
use serde_json::Value;

const MEBIBYTE: f64 = 1_048_576.0;

/// A figure that a program prints, by the name that `peers.toml` has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Figure {
    /// Nanoseconds per operation, from the line `0.105375 usecs/op`.
    PerfBench,
    /// Nanoseconds per message; the number of loops stands in the command only.
    PerfMessaging,
    /// Nanoseconds per message.
    HackbenchMessage,
    /// Bytes per second, all messages together.
    HackbenchBandwidth,
    /// Nanoseconds per bogo operation, by real time.
    StressNg,
    /// Of one thread: nanoseconds per lock and unlock; the number of locks stands in the command only.
    SysbenchMutex,
    /// Bytes per second.
    SysbenchMemory,
    /// `--nsecs --histogram`: the median overshoot in nanoseconds.
    Cyclictest,
    /// Bytes per second, of loads and stores together.
    Likwid,
    /// `-q`: bytes read and written per second, on average over its runs; it counts what it copies once.
    Mbw,
    /// `cargo lab stream` of one kernel: bytes per second.
    Stream,
    /// `ping-pong --full-rtt`: the median round trip in nanoseconds. Half round trips are not accepted.
    Sockperf,
    /// `--unify_units` of a latency, which is half a round trip: the round trip in nanoseconds.
    QperfRoundTrip,
    /// `--json --congestion cubic`: bytes per second that the receiver counted.
    Iperf3,
    /// The mean of the middle half of its round trips, in nanoseconds; it prints whole microseconds.
    Ping,
    /// `--output-format=json`: the median of its reads' completion latencies, in nanoseconds.
    FioLatency,
    /// The same: bytes read per second.
    FioBandwidth,
    /// The same: reads per second.
    FioRate,
    /// `-B`: the mean time of a request, in nanoseconds, the sixth of its fields.
    Ioping,
    /// The first line that is a number.
    #[cfg(test)]
    Plain,
}

impl Figure {
    /// The figure in what this command printed, standard output first.
    pub(super) fn read(self, command: &str, output: &str) -> Option<f64> {
        Some(match self {
            Figure::PerfBench => 1e3 * number_before(output, "usecs/op")?,
            Figure::PerfMessaging => {
                let groups = number_before(output, "groups ==")?;
                // There are as many receivers; every sender sends to each.
                let senders = number_before(output, "sender and receiver")?;
                let messages = groups * senders * senders * number_after(command, "--nr_loops")?;
                1e9 * number_after(output, "Total time:")? / messages
            }
            Figure::HackbenchMessage => {
                1e9 * number_after(output, "Time:")? / hackbench_messages(output)?
            }
            Figure::HackbenchBandwidth => {
                let bytes = hackbench_messages(output)? * number_before(output, "bytes")?;
                bytes / number_after(output, "Time:")?
            }
            Figure::StressNg => stress_ng(output)?,
            Figure::SysbenchMutex => {
                let events = number_after(output, "total number of events:")?;
                (events == 1.0).then_some(())?;
                let seconds = number_after(output, "total time:")?;
                1e9 * seconds / number_after(command, "--mutex-locks=")?
            }
            Figure::SysbenchMemory => {
                let (_, rate) = output.split_once("transferred (")?;
                MEBIBYTE * number_before(rate, "MiB/sec")?
            }
            Figure::Cyclictest => cyclictest(output)?,
            Figure::Likwid => 1e6 * number_after(output, "MByte/s:")?,
            Figure::Mbw => {
                let average = output.lines().find(|line| line.starts_with("AVG"))?;
                2.0 * MEBIBYTE * number_after(average, "Copy:")?
            }
            Figure::Stream => 1e6 * number_before(output, "MB/s")?,
            Figure::Sockperf => {
                let (_, percentiles) = output.split_once("Summary: Round trip is")?;
                1e3 * number_after(percentiles, "percentile 50.000 =")?
            }
            Figure::QperfRoundTrip => {
                let (_, latency) = output.split_once("latency")?;
                latency.contains(" ns").then_some(())?;
                2.0 * number_after(latency, "=")?
            }
            Figure::Iperf3 => iperf3(output)?,
            Figure::Ping => ping(output)?,
            Figure::FioLatency => {
                fio_reads(output)?["clat_ns"]["percentile"]["50.000000"].as_f64()?
            }
            Figure::FioBandwidth => fio_reads(output)?["bw_bytes"].as_f64()?,
            Figure::FioRate => fio_reads(output)?["iops"].as_f64()?,
            Figure::Ioping => {
                let fields = output.lines().next()?.split(' ');
                let fields: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
                *fields?.get(5)?
            }
            #[cfg(test)]
            Figure::Plain => output.lines().find_map(|line| line.trim().parse().ok())?,
        })
    }
}

/// The messages of hackbench: every sender of a group sends each of its own to every receiver of the group; both are
/// equally many.
fn hackbench_messages(output: &str) -> Option<f64> {
    let groups = number_before(output, "groups using")?;
    let tasks = number_before(output, "tasks)")? / groups / 2.0;
    Some(groups * tasks * tasks * number_before(output, "messages of")?)
}

/// From stress-ng's table of one stressor. The rate is printed with more digits than the time, so the rate is read.
fn stress_ng(output: &str) -> Option<f64> {
    let row = output.lines().find_map(|line| {
        let (_, row) = line.split_once("metrc:")?;
        let words = row.split_whitespace().skip(2);
        // Operations, three times, and two rates.
        let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        (numbers.len() >= 6).then_some(numbers)
    })?;
    (row[0] > 0.0).then(|| 1e9 / row[4])
}

/// The median of a histogram; what is beyond it is longer.
fn cyclictest(output: &str) -> Option<f64> {
    let buckets: Vec<(f64, f64)> = output
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (nanoseconds, count) = line.trim().split_once(' ')?;
            Some((nanoseconds.parse().ok()?, count.parse().ok()?))
        })
        .collect();
    let beyond = number_after(output, "# Histogram Overflows:")?;
    let within: f64 = buckets.iter().map(|(_, count)| count).sum();
    let mut left = (within + beyond) / 2.0;
    buckets.iter().find_map(|(nanoseconds, count)| {
        left -= count;
        (left <= 0.0 && *count > 0.0).then_some(*nanoseconds)
    })
}

fn iperf3(output: &str) -> Option<f64> {
    let mut documents = serde_json::Deserializer::from_str(output).into_iter::<Value>();
    let end = &documents.next()?.ok()?["end"];
    if end["sender_tcp_congestion"] != "cubic" {
        return None;
    }
    let bits = end["sum_received"]["bits_per_second"].as_f64()?;
    Some(bits / 8.0)
}

fn ping(output: &str) -> Option<f64> {
    let mut milliseconds: Vec<f64> = output
        .split(" time=")
        .skip(1)
        .filter_map(|rest| rest.split(' ').next()?.parse().ok())
        .collect();
    milliseconds.sort_by(f64::total_cmp);
    let quarter = milliseconds.len() / 4;
    let middle = &milliseconds[quarter..milliseconds.len() - quarter];
    let sum: f64 = middle.iter().sum();
    (!middle.is_empty()).then(|| 1e6 * sum / middle.len() as f64)
}

/// The reads of the only job, or group of jobs, of `fio --output-format=json`; `None` if one of them failed.
fn fio_reads(output: &str) -> Option<Value> {
    // Notes may precede the document.
    let start = output.find("{\n")?;
    let mut documents = serde_json::Deserializer::from_str(&output[start..]).into_iter::<Value>();
    let mut document = documents.next()?.ok()?;
    let job = document["jobs"].get_mut(0)?;
    (job["error"] == 0).then(|| job["read"].take())
}

/// The number before these words.
fn number_before(output: &str, words: &str) -> Option<f64> {
    let (before, _) = output.split_once(words)?;
    before.split_whitespace().next_back()?.parse().ok()
}

/// The number after these words, even if a unit is attached to it.
fn number_after(output: &str, words: &str) -> Option<f64> {
    let (_, after) = output.split_once(words)?;
    let number = after.split_whitespace().next()?;
    number.trim_end_matches(char::is_alphabetic).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each program printed, and the figure that is in it.
    const OUTPUTS: [(Figure, &str, &str, f64); 21] = [
        (
            Figure::PerfBench,
            "",
            "# Running 'syscall/basic' benchmark:\n# Executed 2,000,000 getppid() calls\n     Total time: 0.210 [sec]\n\n       \
             0.105375 usecs/op\n       9,489,916 ops/sec\n",
            105.375,
        ),
        // 20 senders, 20 receivers, 500 loops.
        (
            Figure::PerfMessaging,
            "perf bench sched messaging --nr_loops 500",
            "# Running 'sched/messaging' benchmark:\n# 20 sender and receiver processes per group\n# 1 groups == 40 processes run\n\n     \
             Total time: 0.091 [sec]\n",
            0.091e9 / 200_000.0,
        ),
        (
            Figure::HackbenchMessage,
            "",
            "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\nEach sender will pass 500 messages of \
             100 bytes\nTime: 0.083\n",
            0.083e9 / 200_000.0,
        ),
        (
            Figure::HackbenchMessage,
            "",
            "Running in threaded mode with 3 groups using 4 file descriptors each (== 12 tasks)\nEach sender will pass 10 messages of 1 \
             bytes\nTime: 1.200\n",
            1.2e9 / (3.0 * 4.0 * 10.0),
        ),
        (
            Figure::HackbenchBandwidth,
            "",
            "Running in process mode with 1 groups using 2 file descriptors each (== 2 tasks)\nEach sender will pass 200000 messages of \
             4096 bytes\nTime: 0.208\n",
            200_000.0 * 4096.0 / 0.208,
        ),
        (
            Figure::StressNg,
            "",
            "stress-ng: info:  [20] dispatching hogs: 1 fork\n\
             stress-ng: metrc: [22405] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s CPU used per\n\
             stress-ng: metrc: [22405]                           (secs)    (secs)    (secs)   (real time) (usr+sys time) instance (%)\n\
             stress-ng: metrc: [22405] fork               2000      0.48      0.25      0.21      4124.19        4314.97        95.58\n\
             stress-ng: info:  [22405] successful run completed in 0.49s\n",
            1e9 / 4124.19,
        ),
        (
            Figure::SysbenchMutex,
            "sysbench mutex --mutex-locks=20000000 run",
            "General statistics:\n    total time:                          0.3806s\n    total number of events:              1\n",
            19.03,
        ),
        (
            Figure::SysbenchMemory,
            "",
            "  total size: 4096MiB\n4096.00 MiB transferred (28881.20 MiB/sec)\n",
            28_881.2 * MEBIBYTE,
        ),
        (
            Figure::Likwid,
            "",
            "Data volume (Byte):\t532575944704\nMByte/s:\t\t307714.07\nCycles per update:\t0.059794\n",
            307_714.07e6,
        ),
        (
            Figure::Mbw,
            "",
            "0\tMethod: MEMCPY\tElapsed: 0.05396\tMiB: 256.00000\tCopy: 4744.695 MiB/s\n\
             AVG\tMethod: MEMCPY\tElapsed: 0.05127\tMiB: 256.00000\tCopy: 4993.044 MiB/s\n",
            2.0 * 4993.044 * MEBIBYTE,
        ),
        (Figure::Stream, "", "Triad: 12345.6 MB/s\n", 12_345.6e6),
        (
            Figure::Sockperf,
            "",
            "sockperf: Summary: Round trip is 69.476 usec\nsockperf: ---> <MAX> observation = 5184.214\nsockperf: ---> percentile \
             75.000 =   72.927\nsockperf: ---> percentile 50.000 =   65.837\n",
            65_837.0,
        ),
        (
            Figure::QperfRoundTrip,
            "",
            "tcp_lat:\n    latency  =  27297 ns\n",
            54_594.0,
        ),
        (
            Figure::Iperf3,
            "",
            r#"{"end":{"sum_sent":{"bits_per_second":88},"sum_received":{"bits_per_second":80},"sender_tcp_congestion":"cubic"}}"#,
            10.0,
        ),
        // Neither the longest nor the shortest quarter counts.
        (
            Figure::Ping,
            "",
            "64 bytes: time=0.069 ms\n64 bytes: time=0.007 ms\n64 bytes: time=0.008 ms\n64 bytes: time=0.007 ms\n64 bytes: time=0.007 \
             ms\n64 bytes: time=0.007 ms\n64 bytes: time=12.1 ms\n64 bytes: time=0.001 ms\n",
            7_250.0,
        ),
        (
            Figure::Ping,
            "",
            "64 bytes: time=0.007 ms\n64 bytes: time=0.008 ms\n",
            7_500.0,
        ),
        (Figure::FioLatency, "", FIO, 56_576.0),
        (Figure::FioBandwidth, "", FIO, 4096.0),
        (Figure::FioRate, "", FIO, 1.5),
        (
            Figure::Ioping,
            "",
            "199 10481472 18986 77766176 39299 52671 120755 6275 200 10716985\n",
            52_671.0,
        ),
        (Figure::Cyclictest, "", CYCLICTEST, 26_540.0),
    ];

    const FIO: &str = "fio: a note\n{\n \"jobs\" : [{\"error\" : 0, \"read\" : {\"bw_bytes\" : 4096, \"iops\" : 1.5, \
        \"clat_ns\" : {\"percentile\" : {\"50.000000\" : 56576}}}}]\n}\n";

    const CYCLICTEST: &str = "# Histogram\n026537 000000\n026538 000001\n026539 000000\n026540 000002\n026600 000001\n\
        # Total: 000000004\n# Min Latencies: 26538\n# Histogram Overflows: 00000\n# Thread 0: 00361\n";

    #[test]
    fn figures_are_read_from_what_programs_print() {
        for (figure, command, output, expected) in OUTPUTS {
            let found = figure.read(command, output).expect("a figure");
            assert!((found / expected - 1.0).abs() < 1e-9, "{figure:?}: {found}");
        }
    }

    #[test]
    fn what_is_not_the_figure_asked_for_is_not_read() {
        let of = |figure| {
            let mut outputs = OUTPUTS.into_iter();
            let found = outputs.find(|(known, ..)| *known == figure);
            found.map_or(("", ""), |(_, command, output, _)| (command, output))
        };
        for (figure, part, instead) in [
            (Figure::PerfBench, "0.105375", "many"),
            (Figure::PerfBench, "usecs/op", "ops"),
            (Figure::PerfMessaging, "20 sender and receiver", "some"),
            (Figure::HackbenchMessage, "messages of", "of"),
            (Figure::HackbenchBandwidth, "Time", "Took"),
            (Figure::StressNg, "2000 ", "0 "),
            (Figure::StressNg, "metrc", "info"),
            // One event holds all its locks.
            (Figure::SysbenchMutex, "  1\n", "  2\n"),
            (Figure::Mbw, "AVG", "0"),
            // Half a round trip.
            (Figure::Sockperf, "Round trip is", "Latency is"),
            (Figure::QperfRoundTrip, "ns", "us"),
            (Figure::Iperf3, "cubic", "bbr"),
            (Figure::Iperf3, "sum_received", "error"),
            (Figure::Ping, "time=", "lost"),
            (Figure::FioRate, "\"error\" : 0", "\"error\" : 5"),
            (Figure::FioLatency, "{\n", "engine psync not loadable"),
            (Figure::Ioping, "18986", "failed"),
            (Figure::Cyclictest, "Overflows", "lost"),
        ] {
            let (command, output) = of(figure);
            assert!(output.contains(part), "{figure:?}: {part}");
            let changed = output.replace(part, instead);
            assert_eq!(figure.read(command, &changed), None, "{figure:?}: {part}");
        }
    }

    #[test]
    fn the_median_of_a_histogram_counts_those_beyond_it() {
        for (beyond, expected) in [
            ("00000", Some(26_540.0)),
            ("00002", Some(26_540.0)),
            ("00003", Some(26_600.0)),
            ("00005", None),
        ] {
            let output = CYCLICTEST.replace("Overflows: 00000", &format!("Overflows: {beyond}"));
            assert_eq!(Figure::Cyclictest.read("", &output), expected, "{beyond}");
        }
    }
}
