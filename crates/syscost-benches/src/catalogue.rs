//! How benchmarks are registered: the list of a group names each once, and its id and its file
//! follow from that name.

/// A group that is shown, with its benchmarks in the report's order:
/// `group! { net: "talking over the network", tcp::round_trip, http, }` in `net/mod.rs`.
macro_rules! group {
    ($group:ident: $title:literal, $($(#[$part:meta])? $($module:ident)::+,)+) => {
        syscost_harness::Group {
            name: stringify!($group),
            title: $title,
            source: doc!("mod.rs"),
            benchmarks: &[$($(#[$part])? benchmark!($group::$($module)::+)),+],
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
            doc!(concat!(name!($first), $("/", name!($rest),)* ".rs")),
        )
    };
}

/// The doc comment of a file, which is all of the file that becomes part of the program.
macro_rules! doc {
    ($file:expr) => {{
        const SOURCE: &str = include_str!($file);
        /// The bytes of the comment at the top of that file.
        const HEAD: [u8; syscost_harness::doc::length(SOURCE)] = syscost_harness::doc::head(SOURCE);
        const DOC: &str = match str::from_utf8(&HEAD) {
            Ok(doc) => doc,
            Err(_) => panic!("lines end between letters"),
        };
        DOC
    }};
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
