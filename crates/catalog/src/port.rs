use std::sync::Arc;

use crate::Source;

/// Ports that must be open between two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct PortRule {
    /// Its name: `lustre`, `nfsv4`.
    pub rule: Arc<str>,
    /// Who opens the connection.
    pub from: Arc<str>,
    /// Who is connected to.
    pub to: Arc<str>,
    /// `tcp`, `udp`, or `tcp/udp`.
    pub protocol: Arc<str>,
    /// First and last port of each range.
    pub ports: Vec<(u16, u16)>,
    /// What for.
    pub purpose: Arc<str>,
    /// What else is known.
    pub notes: Arc<str>,
    /// Where this stands.
    pub source: Source,
}
