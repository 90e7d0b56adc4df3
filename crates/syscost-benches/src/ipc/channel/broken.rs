//! A pipe that breaks in one of several ways at its fiftieth message; for tests.

use syscost_harness::prelude::*;

use super::pipe::Pipe;
use super::{ByStream, Channel};
use crate::ipc::message::Message;
use crate::syscall::Bad;

pub(crate) const SOUND: u8 = 0;
pub(crate) const DROPS: u8 = 1;
pub(crate) const DOUBLES: u8 = 2;
pub(crate) const HALVES: u8 = 3;
pub(crate) const SENDS_HALF: u8 = 4;
pub(crate) const FLIPS: u8 = 5;

pub(crate) struct Broken<const HOW: u8> {
    pipe: ByStream<Pipe>,
    sent: u64,
}

impl<const HOW: u8> Channel for Broken<HOW> {
    fn open(bytes: usize) -> Result<(Self, Self), Failure> {
        let (own, partner) = ByStream::open(bytes)?;
        let end = |pipe| Self { pipe, sent: 0 };
        Ok((end(own), end(partner)))
    }

    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        self.sent += 1;
        let whole = message.bytes().len();
        if self.sent != 50 {
            return self.pipe.send(message);
        }
        let mut other = Message::new(whole);
        other.bytes_mut().copy_from_slice(message.bytes());
        match HOW {
            DROPS => Ok(whole),
            DOUBLES => {
                self.pipe.send(message)?;
                self.pipe.send(message)
            }
            HALVES | SENDS_HALF => {
                let mut half = Message::new(whole / 2);
                half.bytes_mut()
                    .copy_from_slice(&message.bytes()[..whole / 2]);
                let went = self.pipe.send(&half)?;
                Ok(if HOW == HALVES { whole } else { went })
            }
            FLIPS => {
                other.bytes_mut()[40] ^= 1;
                self.pipe.send(&other)
            }
            _ => self.pipe.send(message),
        }
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        self.pipe.receive(message)
    }
}
