//! How benchmarks are registered: the list of a group names each once, and its id and its file
//! follow from that name.

/// A group that is shown, with its benchmarks in the report's order:
/// `group! { net: "talking over the network", tcp::round_trip, http, }` in `net/mod.rs`.
macro_rules! group {
    ($group:ident: $title:literal, $($($module:ident)::+,)+) => {
        syscost_harness::Group {
            name: stringify!($group),
            title: $title,
            source: include_str!("mod.rs"),
            benchmarks: &[$(benchmark!($group::$($module)::+)),+],
            hidden: false,
        }
    };
}

/// The benchmark of a module, in its group's `mod.rs`: of `net::tcp::round_trip` it is the
/// `BENCHMARK` of `tcp/round_trip.rs`, with the id `net.tcp.round_trip`.
macro_rules! benchmark {
    ($group:ident :: $first:ident $(:: $rest:ident)*) => {
        $crate::$group::$first$(::$rest)*::BENCHMARK.named(
            id!($group :: $first $(:: $rest)*),
            include_str!(concat!(name!($first), $("/", name!($rest),)* ".rs")),
        )
    };
}

/// The id of a benchmark, by its module: `id!(net::tcp::round_trip)`. There is none of a module
/// without a benchmark.
macro_rules! id {
    ($group:ident $(:: $module:ident)+) => {{
        const _: syscost_harness::Benchmark = $crate::$group$(::$module)+::BENCHMARK;
        concat!(stringify!($group) $(, ".", name!($module))+)
    }};
}

/// The name of a module. One that is a keyword is a raw identifier, and needs a line here.
macro_rules! name {
    (r#loop) => {
        "loop"
    };
    (r#yield) => {
        "yield"
    };
    ($module:ident) => {
        stringify!($module)
    };
}
