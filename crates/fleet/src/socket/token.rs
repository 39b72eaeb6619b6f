use std::fmt;

use fault::{Fault, Kind, Result};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

/// What the tasks of one run know and nobody else: 256 bits. Never shown.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Token([u8; 32]);

/// A number that is used once.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Nonce([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    pub fn fresh() -> Result<Self> {
        random().map(Self)
    }

    /// Shows that we know the token, to one who sent a nonce, in a role and for a task: keyed BLAKE3 over all of that.
    pub fn proof(&self, role: [u8; 4], task: u32, asked: &Nonce, answered: &Nonce) -> [u8; 32] {
        *self.sum(role, task, asked, answered).as_bytes()
    }

    /// Whether a proof is right; takes the same time whatever differs.
    pub fn holds(&self, proof: &[u8; 32], role: [u8; 4], task: u32, asked: &Nonce, answered: &Nonce) -> bool {
        self.sum(role, task, asked, answered) == *proof
    }

    fn sum(&self, role: [u8; 4], task: u32, asked: &Nonce, answered: &Nonce) -> blake3::Hash {
        let mut words = role.to_vec();
        words.extend(task.to_le_bytes());
        words.extend(asked.0);
        words.extend(answered.0);
        blake3::keyed_hash(&self.0, &words)
    }
}

impl Nonce {
    pub fn fresh() -> Result<Self> {
        random().map(Self)
    }
}

fn random() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(32) => Ok(bytes),
        _ => Err(Fault::new(Kind::Io, "the system gives no random numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_role_one_task_and_one_greeting() {
        let (token, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        let (one, two) = (Nonce::fresh().unwrap(), Nonce::fresh().unwrap());
        let proof = token.proof(*b"task", 3, &one, &two);
        assert!(token.holds(&proof, *b"task", 3, &one, &two));
        assert!(!other.holds(&proof, *b"task", 3, &one, &two));
        assert!(!token.holds(&proof, *b"root", 3, &one, &two));
        assert!(!token.holds(&proof, *b"task", 4, &one, &two));
        assert!(!token.holds(&proof, *b"task", 3, &two, &one));
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
