//! The congestion control of TCP measurements, where one was chosen: `syscost run --congestion`.

use syscost_sys::{SystemError, tcp};

/// Maximum length of a name in the kernel, in bytes (TCP_CA_NAME_MAX less the final zero).
const MAX_BYTES: usize = 15;

/// Whether this can be the name of a congestion control.
pub fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

/// Checks whether this machine has it and lets this user choose it.
///
/// # Errors
/// When it does not, or no socket can be opened for the check.
pub fn try_out(name: &str) -> Result<(), SystemError> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0));
    let listener =
        listener.map_err(|cause| SystemError::new("bind", "a socket on 127.0.0.1", cause))?;
    tcp::set_congestion(&listener, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_taken() {
        assert!(is_name("cubic") && is_name("bbr2") && is_name("tcp_prague-1"));
        for no_name in ["", "a b", "cubic\n", "../reno", "sixteen_letters_"] {
            assert!(!is_name(no_name), "{no_name:?}");
        }
    }

    #[test]
    fn what_the_kernel_does_not_have_is_refused() {
        match try_out("reno") {
            Ok(()) => {
                let error = try_out("nonesuch").unwrap_err().to_string();
                assert!(error.contains("TCP_CONGESTION nonesuch"), "{error}");
            }
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}
