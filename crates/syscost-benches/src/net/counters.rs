//! Shared: the kernel's protocol counters of this network namespace. They count all programs, so
//! they may increase by more than a benchmark causes.

use std::collections::BTreeMap;
use std::fs;

use syscost_harness::prelude::*;

/// Files of paired lines: names, then their values.
const TABLES: [&str; 2] = [
    "/proc/thread-self/net/snmp",
    "/proc/thread-self/net/netstat",
];

/// A file with a name and a value in each line; only where there is IPv6.
/// Why a counter may rise by more.
const OTHERS: &str = "other programs raise it as well";

const TABLE_OF_IPV6: &str = "/proc/thread-self/net/snmp6";

/// Counters by their names: `Tcp.AttemptFails`, `TcpExt.ListenOverflows`, `Icmp6InEchos`.
type Counters = Result<BTreeMap<String, u64>, Unsupported>;

fn read() -> Counters {
    let mut counters = BTreeMap::new();
    for table in TABLES {
        let text = fs::read_to_string(table)
            .map_err(|error| Unsupported::new(format!("{table}: {error}")))?;
        counters.extend(pairs_of_lines(&text));
    }
    if let Ok(text) = fs::read_to_string(TABLE_OF_IPV6) {
        counters.extend(text.lines().filter_map(name_and_value));
    }
    Ok(counters)
}

/// The counters before something and after it.
#[derive(Debug)]
pub(crate) struct Watch {
    before: Counters,
    after: Counters,
}

impl Watch {
    /// Reads them before it.
    pub(crate) fn begin() -> Self {
        Self {
            before: read(),
            after: Err(Unsupported::new("it was not read at the end")),
        }
    }

    /// Reads them after it.
    pub(crate) fn end(&mut self) {
        self.after = read();
    }

    /// By how much one of them has increased.
    pub(crate) fn risen(&self, name: &str) -> Result<u64, Unsupported> {
        let [before, after] = [&self.before, &self.after].map(|counters| {
            let counters = counters.as_ref().map_err(Unsupported::clone)?;
            let unknown = || Unsupported::new("this kernel does not count them");
            counters.get(name).copied().ok_or_else(unknown)
        });
        Ok(after?.saturating_sub(before?))
    }

    /// Claims that one of them has increased by at least this much.
    pub(crate) fn claim_risen(&self, b: &mut Bencher, name: &str, least: u64) {
        let risen = self.risen(name).map(|risen| risen as f64);
        b.claim_at_least(name, least as f64, risen, "/proc/net", OTHERS);
    }
}

/// Parses `Tcp: InSegs OutSegs` above `Tcp: 17 4`.
fn pairs_of_lines(text: &str) -> Vec<(String, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let tables = lines.chunks_exact(2).filter_map(|pair| {
        let (names, values) = (pair[0].split_once(':')?, pair[1].split_once(':')?);
        (names.0 == values.0).then_some((names.0, names.1, values.1))
    });
    tables
        .flat_map(|(table, names, values)| {
            let pairs = names.split_whitespace().zip(values.split_whitespace());
            // Some values are limits, and may be negative.
            pairs.filter_map(move |(name, value)| {
                Some((format!("{table}.{name}"), value.parse().ok()?))
            })
        })
        .collect()
}

/// Parses `Icmp6InEchos   17`.
fn name_and_value(line: &str) -> Option<(String, u64)> {
    let (name, value) = line.split_once(char::is_whitespace)?;
    Some((name.to_owned(), value.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_tables_are_parsed() {
        let text = "Tcp: RtoMin MaxConn InSegs\nTcp: 200 -1 17\nUdp: InDatagrams\nUdp: 4\n";
        let pairs = pairs_of_lines(text);
        let expected = [
            ("Tcp.RtoMin", 200),
            ("Tcp.InSegs", 17),
            ("Udp.InDatagrams", 4),
        ];
        assert_eq!(
            pairs,
            expected.map(|(name, value)| (name.to_owned(), value))
        );
        assert_eq!(
            name_and_value("Icmp6InEchos                    \t17"),
            Some(("Icmp6InEchos".to_owned(), 17))
        );
        assert_eq!(name_and_value("Icmp6InEchos"), None);
    }

    #[test]
    fn a_refused_connection_is_counted() {
        let mut counters = Watch::begin();
        // A port that this test occupies and on which nothing listens.
        let taken = or_skip!(std::net::UdpSocket::bind("127.0.0.1:0"), "no loopback here");
        let unserved = taken.local_addr().unwrap();
        assert!(std::net::TcpStream::connect(unserved).is_err());
        counters.end();
        or_skip!(&counters.before);
        assert!(counters.risen("Tcp.AttemptFails").unwrap() >= 1);
        assert!(counters.risen("TcpExt.ListenOverflows").is_ok());
        assert!(counters.risen("Tcp.Nonesuch").is_err());
    }
}
