use super::*;

fn nonces() -> Nonces {
    Nonces {
        client: Nonce::generate().unwrap(),
        server: Nonce::generate().unwrap(),
    }
}

#[test]
fn only_an_end_with_the_token_can_prove_it_and_only_for_its_role() {
    let (token, other) = (Token::generate().unwrap(), Token::generate().unwrap());
    let nonces = nonces();
    let proof = token.prove(Role::Client, &nonces);
    assert!(token.verify(Role::Client, &nonces, &proof));
    assert!(!token.verify(Role::Server, &nonces, &proof), "sent back");
    assert!(!other.verify(Role::Client, &nonces, &proof));
    let replayed = Nonces {
        server: Nonce::generate().unwrap(),
        ..nonces
    };
    assert!(!token.verify(Role::Client, &replayed, &proof));
}

#[test]
fn a_proof_is_the_hmac_of_rfc_2104() {
    let token = Token([0x0b; BYTES]);
    let nonces = Nonces {
        client: Nonce([1; BYTES]),
        server: Nonce([2; BYTES]),
    };
    // By hand: H((key ^ opad) || H((key ^ ipad) || message)), RFC 2104.
    use sha2::Digest;
    let pad = |with: u8| {
        let mut block = [with; 64];
        block[..BYTES].iter_mut().for_each(|byte| *byte ^= 0x0b);
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(b"syscost client")
        .chain_update([1; BYTES])
        .chain_update([2; BYTES]);
    let outer = Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner.finalize());
    let expected: [u8; BYTES] = outer.finalize().into();
    assert_eq!(token.prove(Role::Client, &nonces).0.0, expected);
}

#[test]
fn a_token_is_only_printed_on_request() {
    let token = Token::generate().unwrap();
    assert_eq!(format!("{token:?}"), "Token(..)");
    let digits = token.reveal();
    assert_eq!(digits.len(), 64);
    assert_eq!(digits.parse::<Token>().unwrap().0, token.0);
}

#[test]
fn a_pipe_is_read_to_its_end_and_one_without_a_writer_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    let error = Token::read(&path).unwrap_err().to_string();
    assert!(error.contains("not come to an end"), "{error}");
    let token = Token::generate().unwrap();
    let digits = token.reveal();
    let writer = path.clone();
    let writing = thread::spawn(move || {
        let mut fifo = OpenOptions::new().write(true).open(writer).unwrap();
        for part in [&digits[..10], &digits[10..]] {
            thread::sleep(3 * PAUSE);
            fifo.write_all(part.as_bytes()).unwrap();
        }
    });
    assert_eq!(Token::read(&path).unwrap().0, token.0);
    writing.join().unwrap();
}

#[test]
fn a_token_file_is_private_and_holds_a_token_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let token = Token::generate().unwrap();
    token.write_new(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(exposure(&path), None);
    assert_eq!(Token::read(&path).unwrap().0, token.0);
    let error = token.write_new(&path).unwrap_err().to_string();
    assert!(error.contains("File exists"), "{error}");
    for nothing in [
        "",
        "secret",
        &"0".repeat(63),
        &"0".repeat(5000),
        &"é".repeat(32),
    ] {
        std::fs::write(&path, nothing).unwrap();
        let error = Token::read(&path).unwrap_err().to_string();
        assert!(error.contains("holds no token"), "{error}");
    }
    std::fs::write(&path, [0xff; 64]).unwrap();
    assert!(matches!(
        Token::read(&path),
        Err(TokenError::Malformed { .. })
    ));
    for (mode, words) in [
        (0o644, "others can read the"),
        (0o622, "others can change the"),
        (0o666, "others can read and change the"),
    ] {
        let open = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, open).unwrap();
        let warning = exposure(&path).expect("others can use it");
        let shown = format!("mode {mode:o}");
        assert!(
            warning.contains(words) && warning.contains(&shown),
            "{warning}"
        );
    }
    let error = Token::read(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, TokenError::Io { .. }), "{error}");
}
