//! The binary as its users start it. One test program, since each links all of syscost.

mod ab;
mod bad_input;
mod beside;
mod bill;
mod bystanders;
mod catalogue;
#[cfg(feature = "fleet")]
mod check;
mod command_line;
mod common;
mod company;
mod compare;
mod console;
mod defaults;
mod export;
mod file_systems;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(feature = "fleet")]
mod fleet_engines;
#[cfg(feature = "fleet")]
mod fleet_report;
#[cfg(feature = "fleet")]
mod fleet_standins;
#[cfg(feature = "fleet")]
mod fleet_tables;
mod gates;
mod history;
mod interruption;
mod leftovers;
mod links;
mod machines;
mod net_links;
#[cfg(feature = "nfs")]
mod nfs;
mod output;
mod own_image;
mod plot;
#[cfg(all(feature = "doctor", feature = "fleet"))]
mod prometheus;
mod readers;
mod real_time;
mod report;
mod resume;
mod run_document;
mod serve;
mod share;
mod show;
#[cfg(feature = "studies")]
mod study;
#[cfg(feature = "studies")]
mod study_hand_in;
mod surroundings;
#[cfg(feature = "fleet")]
mod templates;
mod time;
mod tool;
