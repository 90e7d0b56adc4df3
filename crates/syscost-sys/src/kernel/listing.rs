//! The instructions of a kernel's operation, read from the very text that the assembler is given.

use std::collections::BTreeMap;

/// These instructions in their order, each with the kinds of its operands, as `lock xadd m, r64`.
/// `same` is the first operand's register again; a label is left out. `12 of (add r64, r64)` stands
/// for one in each of twelve registers.
pub(super) fn listing(assembly: &str) -> String {
    let (mut listed, mut first) = (String::new(), ("", ""));
    for line in assembly.lines().map(str::trim) {
        let separator = match listed.is_empty() || listed.ends_with('(') {
            true => "",
            false => "; ",
        };
        if let Some((name, values)) = line
            .strip_prefix(".irp ")
            .and_then(|list| list.split_once(','))
        {
            first = (name, values.split(',').next().unwrap_or_default());
            let times = values.split(',').count();
            listed += &format!("{separator}{times} of (");
        } else if line == ".endr" {
            listed += ")";
        } else if !(line.is_empty() || line.starts_with('.') || line.ends_with(':')) {
            let line = line.replace(&format!("\\{}", first.0), first.1);
            listed += separator;
            listed += &instruction(&line);
        }
    }
    listed
}

/// Into how many equal parts an operation's text can fall at most, by its mnemonics: what they are
/// repeated together. Procedures, which follow it, are no part of it.
pub(super) fn equal_parts(assembly: &str) -> u64 {
    let (mut counts, mut times) = (BTreeMap::new(), 1);
    let lines = assembly.lines().map(str::trim);
    for line in lines.take_while(|line| *line != "7:") {
        if let Some(list) = line.strip_prefix(".irp ") {
            times = list.split(',').count() as u64 - 1;
        } else if line == ".endr" {
            times = 1;
        } else if !(line.is_empty() || line.starts_with('.') || line.ends_with(':')) {
            *counts.entry(line.split(' ').next()).or_default() += times;
        }
    }
    counts.into_values().fold(0, greatest_common_divisor)
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => greatest_common_divisor(other, one % other),
    }
}

/// One instruction with the kinds of its operands.
fn instruction(line: &str) -> String {
    let words = if line.starts_with("lock ") { 2 } else { 1 };
    let end = line.match_indices(' ').nth(words - 1);
    let (mnemonic, operands) = line.split_at(end.map_or(line.len(), |(at, _)| at));
    let operands: Vec<&str> = split(operands).collect();
    let kinds = operands.iter().enumerate().filter_map(|(index, operand)| {
        let kind = kind(operand)?;
        let is_first_again = index > 0 && operand == &operands[0] && !kind.starts_with('m');
        Some(if is_first_again { "same".into() } else { kind })
    });
    let kinds: Vec<String> = kinds.collect();
    match kinds.is_empty() {
        true => mnemonic.to_owned(),
        false => format!("{mnemonic} {}", kinds.join(", ")),
    }
}

/// The operands, which commas separate, other than those within an address.
fn split(operands: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = operands.split(move |letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// The kind of an operand: memory, a number, or registers of its width. `None` for a label.
fn kind(operand: &str) -> Option<String> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    if operand.contains('[') {
        return Some("m".to_owned());
    }
    if operand.starts_with(|letter| is_digit(letter) || letter == '-' || letter == '{') {
        let is_label = operand.ends_with(['f', 'b']) && !operand.starts_with("0x");
        return (!is_label).then(|| "n".to_owned());
    }
    let (register, part) = operand.split_at(operand.find('.').unwrap_or(operand.len()));
    let letters = register.trim_end_matches(is_digit).trim_end();
    Some(match letters {
        "r" => "r64".to_owned(),
        _ if register.starts_with('r') && register.ends_with('d') => "r32".to_owned(),
        _ if register.len() == 3 && register.starts_with('r') => "r64".to_owned(),
        _ if register.len() == 3 && register.starts_with('e') => "r32".to_owned(),
        _ => format!("{letters}{part}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_listed_with_the_kinds_of_their_operands() {
        for (assembly, listed) in [
            ("lock xadd [rsi + 8], r8", "lock xadd m, r64"),
            ("add rax, rcx\nadd r8d, ecx", "add r64, r64; add r32, r32"),
            ("4:\nje 4b\nmov r12, -1\n.p2align 4", "je; mov r64, n"),
            (
                ".irp r,xmm1,xmm2\naddpd \\r, xmm14\n.endr\nret",
                "2 of (addpd xmm, xmm); ret",
            ),
            (
                "sdiv x3, x4, x3\nsdiv w5, w4, w3",
                "sdiv x, x, same; sdiv w, w, w",
            ),
            ("fmla v16.2d, v28.2d, v29.2d", "fmla v.2d, v.2d, v.2d"),
            ("ldrb w3, [x1, x2]\ndmb ish", "ldrb w, m; dmb ish"),
        ] {
            assert_eq!(listing(assembly), listed);
        }
    }

    #[test]
    fn a_text_falls_into_as_many_parts_as_it_repeats_all_its_instructions() {
        for (assembly, parts) in [
            ("mfence", 1),
            ("mulsd xmm0, xmm14\nmulsd xmm0, xmm15", 2),
            (
                ".irp r,1,2,3\nmovapd xmm\\r, xmm14\n.endr\n.irp r,1,2,3\ndivsd xmm\\r, xmm15\n.endr",
                3,
            ),
            ("mov rax, r8\ncqo\nidiv rcx\nmov rcx, rax", 1),
            (
                ".irp s,1,2\ncall 7f\naddsd xmm\\s, xmm0\n.endr\n.p2align 6\n7:\nret",
                2,
            ),
        ] {
            assert_eq!(equal_parts(assembly), parts, "{assembly}");
        }
    }

    #[test]
    fn a_lock_less_a_wider_register_or_a_chain_broken_is_listed_otherwise() {
        for (assembly, lie) in [
            ("lock xadd [rsi], rax", "xadd [rsi], rax"),
            ("add rax, rcx", "add eax, ecx"),
            ("sdiv x3, x4, x3", "sdiv x5, x4, x3"),
        ] {
            assert_ne!(listing(assembly), listing(lie));
        }
    }
}
