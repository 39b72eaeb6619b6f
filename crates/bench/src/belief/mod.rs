//! Whether a result can be believed.
