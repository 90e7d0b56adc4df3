//! Reads a peer's figure from its output: nanoseconds per operation, or bytes per second if our row
//! has that unit.

use serde_json::Value;

const MEBIBYTE: f64 = 1_048_576.0;

/// `perf bench`: nanoseconds per operation, from the line `0.105375 usecs/op`.
pub(super) fn perf_bench(output: &str) -> Option<f64> {
    let line = output
        .lines()
        .find_map(|line| line.trim().strip_suffix("usecs/op"))?;
    line.trim()
        .parse::<f64>()
        .ok()
        .map(|microseconds| microseconds * 1e3)
}

/// `perf bench sched messaging` with this many loops, which it does not print: nanoseconds per message.
pub(super) fn perf_messaging<const LOOPS: u32>(output: &str) -> Option<f64> {
    let groups = number_before(output, "groups ==")?;
    // There are as many receivers; every sender sends to each.
    let senders = number_before(output, "sender and receiver")?;
    let seconds = number_after(output, "Total time:")?;
    Some(1e9 * seconds / (groups * senders * senders * f64::from(LOOPS)))
}

/// The numbers that hackbench prints about its work.
struct Hackbench {
    messages: f64,
    bytes: f64,
    seconds: f64,
}

impl Hackbench {
    /// Every sender of a group sends each of its messages to every receiver of the group; both are
    /// equally many.
    fn read(output: &str) -> Option<Self> {
        let groups = number_before(output, "groups using")?;
        let tasks = number_before(output, "tasks)")? / groups / 2.0;
        let loops = number_before(output, "messages of")?;
        Some(Self {
            messages: groups * tasks * tasks * loops,
            bytes: number_before(output, "bytes")?,
            seconds: number_after(output, "Time:")?,
        })
    }
}

/// hackbench: nanoseconds per message.
pub(super) fn hackbench_message(output: &str) -> Option<f64> {
    let run = Hackbench::read(output)?;
    Some(1e9 * run.seconds / run.messages)
}

/// hackbench: bytes per second, all messages together.
pub(super) fn hackbench_bandwidth(output: &str) -> Option<f64> {
    let run = Hackbench::read(output)?;
    Some(run.messages * run.bytes / run.seconds)
}

/// stress-ng's table of one stressor: nanoseconds per bogo operation, by real time.
///
/// The rate is printed with more digits than the time, so the rate is read.
pub(super) fn stress_ng(output: &str) -> Option<f64> {
    let row = output.lines().find_map(|line| {
        let (_, row) = line.split_once("metrc:")?;
        let words: Vec<&str> = row.split_whitespace().skip(2).collect();
        // Operations, three times, and two rates.
        let numbers: Vec<f64> = words.iter().map_while(|word| word.parse().ok()).collect();
        (numbers.len() >= 6).then_some(numbers)
    })?;
    (row[0] > 0.0).then(|| 1e9 / row[4])
}

/// `sysbench mutex` of one thread with this many locks, which it does not print: nanoseconds per
/// lock and unlock.
pub(super) fn sysbench_mutex<const LOCKS: u32>(output: &str) -> Option<f64> {
    let events = number_after(output, "total number of events:")?;
    let seconds = number_after(output, "total time:")?;
    (events == 1.0).then(|| 1e9 * seconds / f64::from(LOCKS))
}

/// `cyclictest --nsecs --histogram`: the median overshoot in nanoseconds; those beyond the
/// histogram are longer.
pub(super) fn cyclictest(output: &str) -> Option<f64> {
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

/// `likwid-bench`: bytes per second, of loads and stores together, from the line `MByte/s:`.
pub(super) fn likwid(output: &str) -> Option<f64> {
    number_after(output, "MByte/s:").map(|megabytes| megabytes * 1e6)
}

/// `mbw -q`: bytes read and written per second, on average over its runs; it counts what it copies once.
pub(super) fn mbw(output: &str) -> Option<f64> {
    let average = output.lines().find(|line| line.starts_with("AVG"))?;
    number_after(average, "Copy:").map(|mebibytes| 2.0 * mebibytes * MEBIBYTE)
}

/// `sysbench memory`: bytes per second.
pub(super) fn sysbench_memory(output: &str) -> Option<f64> {
    let (_, rate) = output.split_once("transferred (")?;
    number_before(rate, "MiB/sec").map(|mebibytes| mebibytes * MEBIBYTE)
}

/// `cargo lab stream` of one kernel: bytes per second.
pub(super) fn stream(output: &str) -> Option<f64> {
    number_before(output, "MB/s").map(|megabytes| megabytes * 1e6)
}

/// `sockperf ping-pong --full-rtt`: the median round trip in nanoseconds. Half round trips are not accepted.
pub(super) fn sockperf(output: &str) -> Option<f64> {
    let (_, percentiles) = output.split_once("Summary: Round trip is")?;
    number_after(percentiles, "percentile 50.000 =").map(|microseconds| microseconds * 1e3)
}

/// `qperf --unify_units` of a latency, which is half a round trip: the round trip in nanoseconds.
pub(super) fn qperf_round_trip(output: &str) -> Option<f64> {
    let (_, latency) = output.split_once("latency")?;
    latency.contains(" ns").then_some(())?;
    number_after(latency, "=").map(|half| 2.0 * half)
}

/// `iperf3 --json --congestion cubic`: bytes per second that the receiver counted.
pub(super) fn iperf3(output: &str) -> Option<f64> {
    let mut documents = serde_json::Deserializer::from_str(output).into_iter::<Value>();
    let end = &documents.next()?.ok()?["end"];
    if end["sender_tcp_congestion"] != "cubic" {
        return None;
    }
    let bits = end["sum_received"]["bits_per_second"].as_f64()?;
    Some(bits / 8.0)
}

/// `ping`: the mean of the middle half of its round trips, in nanoseconds; it prints whole microseconds.
pub(super) fn ping(output: &str) -> Option<f64> {
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

/// `fio --output-format=json`: the median of its reads' completion latencies, in nanoseconds.
pub(super) fn fio_latency(output: &str) -> Option<f64> {
    fio_reads(output)?["clat_ns"]["percentile"]["50.000000"].as_f64()
}

/// `fio --output-format=json`: bytes read per second.
pub(super) fn fio_bandwidth(output: &str) -> Option<f64> {
    fio_reads(output)?["bw_bytes"].as_f64()
}

/// `fio --output-format=json`: reads per second.
pub(super) fn fio_rate(output: &str) -> Option<f64> {
    fio_reads(output)?["iops"].as_f64()
}

/// `ioping -B`: the mean time of a request, in nanoseconds, the sixth of its fields.
pub(super) fn ioping(output: &str) -> Option<f64> {
    let line = output.lines().next()?;
    let fields: Vec<f64> = line
        .split(' ')
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    fields.get(5).copied()
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

    /// The figure must match within rounding.
    fn is(figure: Option<f64>, expected: f64) {
        let figure = figure.expect("a figure");
        assert!((figure / expected - 1.0).abs() < 1e-9, "{figure}");
    }

    #[test]
    fn perf_benchs_own_output_is_read() {
        let output = "# Running 'syscall/basic' benchmark:\n# Executed 2,000,000 getppid() calls\n     Total time: \
                      0.210 [sec]\n\n       0.105375 usecs/op\n       9,489,916 ops/sec\n";
        is(perf_bench(output), 105.375);
        let output = "# Running 'sched/pipe' benchmark:\n# Executed 20000 pipe operations between two processes\n\n     \
                      Total time: 0.046 [sec]\n\n       2.322600 usecs/op\n         430551 ops/sec\n";
        is(perf_bench(output), 2322.6);
        assert_eq!(perf_bench("Total time: 0.210 [sec]\n"), None);
        assert_eq!(perf_bench("many usecs/op\n"), None);
    }

    #[test]
    fn perfs_messages_are_those_of_every_sender_to_every_receiver() {
        let output = "# Running 'sched/messaging' benchmark:\n# 20 sender and receiver processes per group\n# 1 groups \
                      == 40 processes run\n\n     Total time: 0.091 [sec]\n";
        // 20 senders, 20 receivers, 500 loops.
        is(perf_messaging::<500>(output), 0.091e9 / 200_000.0);
        assert_eq!(perf_messaging::<500>("Total time: 0.091 [sec]\n"), None);
    }

    #[test]
    fn hackbench_tells_what_it_did() {
        let group = "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\nEach sender \
                     will pass 500 messages of 100 bytes\nTime: 0.083\n";
        is(hackbench_message(group), 0.083e9 / 200_000.0);
        let pair = "Running in process mode with 1 groups using 2 file descriptors each (== 2 tasks)\nEach sender will \
                    pass 200000 messages of 4096 bytes\nTime: 0.208\n";
        is(hackbench_bandwidth(pair), 200_000.0 * 4096.0 / 0.208);
        let groups = "Running in threaded mode with 3 groups using 4 file descriptors each (== 12 tasks)\nEach sender \
                      will pass 10 messages of 1 bytes\nTime: 1.200\n";
        is(hackbench_message(groups), 1.2e9 / (3.0 * 4.0 * 10.0));
        assert_eq!(hackbench_message("Time: 0.083\n"), None);
        assert_eq!(hackbench_bandwidth(&pair.replace("Time", "Took")), None);
    }

    #[test]
    fn stress_ngs_rate_by_real_time_is_read() {
        let output = "stress-ng: info:  [20] defaulting to a 86400 second (1 day, 0.00 secs) run per stressor\n\
                      stress-ng: info:  [20] dispatching hogs: 1 fork\n\
                      stress-ng: metrc: [22405] stressor       bogo ops real time  usr time  sys time   bogo ops/s     \
                      bogo ops/s CPU used per       RSS Max\n\
                      stress-ng: metrc: [22405]                           (secs)    (secs)    (secs)   (real time) \
                      (usr+sys time) instance (%)          (KB)\n\
                      stress-ng: metrc: [22405] fork               2000      0.48      0.25      0.21      4124.19        \
                      4314.97        95.58          2588\n\
                      stress-ng: info:  [22405] successful run completed in 0.49s\n";
        is(stress_ng(output), 1e9 / 4124.19);
        let nothing = "stress-ng: metrc: [5454] sock                  0      0.00      0.00      0.00         0.00           \
                       0.00       110.54          2700\n";
        assert_eq!(stress_ng(nothing), None);
        assert_eq!(
            stress_ng("stress-ng: info:  [22405] successful run completed in 0.49s\n"),
            None
        );
    }

    #[test]
    fn sysbenchs_one_event_holds_all_its_locks() {
        let output = "General statistics:\n    total time:                          0.3806s\n    total number of \
                      events:              1\n\nLatency (ms):\n         min:                                  380.52\n";
        is(sysbench_mutex::<20_000_000>(output), 19.03);
        let two = output.replace("events:              1", "events:              2");
        assert_eq!(sysbench_mutex::<20_000_000>(&two), None);
        assert_eq!(sysbench_mutex::<20_000_000>(""), None);
    }

    #[test]
    fn rates_of_memory_are_bytes_per_second() {
        let output = "Data volume (Byte):\t532575944704\nMByte/s:\t\t307714.07\nCycles per update:\t0.059794\n";
        is(likwid(output), 307_714.07e6);
        let output = "0\tMethod: MEMCPY\tElapsed: 0.05396\tMiB: 256.00000\tCopy: 4744.695 MiB/s\n\
                      AVG\tMethod: MEMCPY\tElapsed: 0.05127\tMiB: 256.00000\tCopy: 4993.044 MiB/s\n";
        is(mbw(output), 2.0 * 4993.044 * 1_048_576.0);
        assert_eq!(mbw("Copy: 3 MiB/s"), None);
        let output = "  total size: 4096MiB\n4096.00 MiB transferred (28881.20 MiB/sec)\n";
        is(sysbench_memory(output), 28_881.2 * 1_048_576.0);
        is(stream("Triad: 12345.6 MB/s\n"), 12_345.6e6);
    }

    #[test]
    fn half_a_round_trip_is_not_taken_for_a_whole_one() {
        let output = "sockperf: Summary: Round trip is 69.476 usec\nsockperf: Total 7888 observations; each percentile \
                      contains 78.88 observations\nsockperf: ---> <MAX> observation = 5184.214\nsockperf: ---> percentile \
                      75.000 =   72.927\nsockperf: ---> percentile 50.000 =   65.837\n";
        is(sockperf(output), 65_837.0);
        let half = output.replace("Round trip is", "Latency is");
        assert_eq!(sockperf(&half), None);
        let output = "tcp_lat:\n    latency  =  27297 ns\n";
        is(qperf_round_trip(output), 54_594.0);
        assert_eq!(qperf_round_trip(&output.replace("ns", "us")), None);
        assert_eq!(qperf_round_trip("tcp_lat:\nfailed\n"), None);
    }

    #[test]
    fn iperf3s_receiver_counts_and_the_congestion_control_is_the_one_asked_for() {
        let output = "{\"start\":{},\"end\":{\"sum_sent\":{\"bits_per_second\":88},\"sum_received\":{\"bits_per_second\":\
                      80},\"sender_tcp_congestion\":\"cubic\"}}\n\n";
        is(iperf3(output), 10.0);
        assert_eq!(iperf3(&output.replace("cubic", "bbr")), None);
        let refused =
            "{\"end\":{},\"error\":\"unable to connect to server: Connection refused\"}\n";
        assert_eq!(iperf3(refused), None);
        assert_eq!(iperf3("iperf3: error\n"), None);
    }

    #[test]
    fn fios_reads_are_those_of_a_job_without_errors() {
        let output = "fio: a note\n{\n \"jobs\" : [{\"error\" : 0, \"read\" : {\"bw_bytes\" : 4096, \"iops\" : 1.5, \
                      \"clat_ns\" : {\"percentile\" : {\"50.000000\" : 56576}}}}]\n}\n";
        is(fio_latency(output), 56_576.0);
        is(fio_bandwidth(output), 4096.0);
        is(fio_rate(output), 1.5);
        assert_eq!(
            fio_rate(&output.replace("\"error\" : 0", "\"error\" : 5")),
            None
        );
        assert_eq!(fio_latency("fio: engine psync not loadable\n"), None);
    }

    #[test]
    fn iopings_raw_statistics_have_the_mean() {
        let output = "199 10481472 18986 77766176 39299 52671 120755 6275 200 10716985\n";
        is(ioping(output), 52_671.0);
        assert_eq!(ioping("ioping: failed\n"), None);
    }

    #[test]
    fn pings_microseconds_are_averaged_without_the_extremes() {
        let line = |milliseconds: &str| {
            format!("64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time={milliseconds} ms\n")
        };
        let times = [
            "0.069", "0.007", "0.008", "0.007", "0.007", "0.007", "12.1", "0.001",
        ];
        is(ping(&times.map(line).concat()), 7_250.0);
        is(ping(&["0.007", "0.008"].map(line).concat()), 7_500.0);
        assert_eq!(ping("2 packets transmitted, 0 received\n"), None);
    }

    #[test]
    fn the_median_of_cyclictests_histogram_counts_those_beyond_it() {
        let output = |beyond: u32| {
            format!(
                "# Histogram\n026537 000000\n026538 000001\n026539 000000\n026540 \
                 000002\n026600 000001\n# Total: 000000004\n# Min Latencies: 26538\n# Avg Latencies: 26554\n# Max \
                 Latencies: 567340\n# Histogram Overflows: {beyond:05}\n# Histogram Overflow at cycle number:\n# Thread \
                 0: 00361\n"
            )
        };
        is(cyclictest(&output(0)), 26_540.0);
        is(cyclictest(&output(2)), 26_540.0);
        is(cyclictest(&output(3)), 26_600.0);
        assert_eq!(cyclictest(&output(5)), None);
        let refused = "Unable to change scheduling policy!\nProbably missing capabilities, either run as root or increase \
                       RLIMIT_RTPRIO limits.\n";
        assert_eq!(cyclictest(refused), None);
    }
}
