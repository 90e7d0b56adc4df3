//! A pipe that breaks in one of several ways at its fiftieth message; for tests.

use syscost_harness::prelude::*;

use super::streams::{Streams, pipes};
use super::{Channel, Ends};
use crate::ipc::message::Message;
use crate::syscall::Bad;

#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    Sound,
    Drops,
    Doubles,
    Halves,
    SendsHalf,
    Flips,
}

pub(crate) struct Broken {
    how: How,
    pipe: Streams,
    sent: u64,
}

impl Broken {
    pub(crate) fn open(how: How, bytes: usize) -> Result<Ends<Self>, Failure> {
        let (own, partner) = pipes(bytes)?;
        let end = |pipe| Self { how, pipe, sent: 0 };
        Ok((end(own), end(partner)))
    }
}

impl Channel for Broken {
    fn send(&mut self, message: &Message) -> Result<usize, Bad> {
        self.sent += 1;
        let bytes = message.bytes();
        if self.sent != 50 {
            return self.pipe.send(message);
        }
        let mut other = Message::new(match self.how {
            How::Halves | How::SendsHalf => bytes.len() / 2,
            How::Sound | How::Drops | How::Doubles | How::Flips => bytes.len(),
        });
        let part = &bytes[..other.bytes().len()];
        other.bytes_mut().copy_from_slice(part);
        match self.how {
            How::Sound => {}
            How::Drops => return Ok(bytes.len()),
            How::Doubles => {
                self.pipe.send(message)?;
            }
            How::Flips => other.bytes_mut()[40] ^= 1,
            How::SendsHalf => return self.pipe.send(&other),
            How::Halves => return self.pipe.send(&other).map(|_| bytes.len()),
        }
        self.pipe.send(&other)
    }

    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad> {
        self.pipe.receive(message)
    }
}
