//! A link for experiments by hand, as shown in docs/testing-networks.md.

use std::io;
use std::time::Duration;

use crate::common::or_skip;

use super::{Link, Shape, Side};

/// The variable with the link's shape, such as `mtu=9000 megabits=100 loss_percent=5 delay_ms=5`.
const VARIABLE: &str = "SYSCOST_LINK";

/// The shape that this text describes.
///
/// # Errors
/// The part that is not a valid setting.
fn parse(text: &str) -> Result<Shape, String> {
    let mut shape = Shape::PLAIN;
    for part in text.split_whitespace() {
        let (name, value) = part.split_once('=').ok_or(part)?;
        let number: u32 = value.parse().map_err(|_| part)?;
        match name {
            "mtu" => shape.mtu = number,
            "megabits" => shape.megabits = Some(number),
            "loss_percent" => shape.loss_percent = Some(number),
            "delay_ms" => shape.delay = Some(Duration::from_millis(number.into())),
            _ => return Err(part.to_owned()),
        }
    }
    Ok(shape)
}

#[test]
#[ignore = "keeps a link until its standard input ends"]
fn hold_a_link_by_hand() {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let shape = parse(&text).unwrap_or_else(|part| panic!("{VARIABLE}: what is `{part}`?"));
    let link = or_skip!(Link::new(shape));
    for side in Side::BOTH {
        let addresses = [Some(link.address(side)), link.address_v6(side)];
        let addresses: Vec<String> = addresses.iter().flatten().map(|a| a.to_string()).collect();
        let name = link.end(side).name();
        println!(
            "{side:?}: ip netns exec {name} ...   {}",
            addresses.join(", ")
        );
    }
    println!("the link ends with this program's standard input (Ctrl-D)");
    io::copy(&mut io::stdin(), &mut io::sink()).expect("standard input");
}

#[test]
fn a_shape_is_read_as_it_is_written() {
    let shape = parse("mtu=9000 megabits=100 loss_percent=5 delay_ms=5").expect("all are known");
    let expected = Shape {
        mtu: 9000,
        megabits: Some(100),
        loss_percent: Some(5),
        delay: Some(Duration::from_millis(5)),
    };
    assert_eq!(shape, expected);
    assert_eq!(parse(""), Ok(Shape::PLAIN));
    for wrong in ["mtu", "mtu=", "mtu=big", "speed=5"] {
        assert_eq!(parse(wrong), Err(wrong.to_owned()));
    }
}
