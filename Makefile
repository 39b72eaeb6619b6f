# What a newcomer types. On Debian and Ubuntu each target installs what it needs, if it may.

.PHONY: help demo test test-quick check bench

help:
	@echo 'make demo         measure a fresh directory with examples/demo.toml and write a report (TARGET=DIR to choose)'
	@echo 'make test         every test this machine allows; says what it skipped'
	@echo 'make test-quick   the tests that need neither root nor a browser'
	@echo 'make check        formatting, lints, licences'
	@echo 'make bench        side by side with other tools'

demo:
	scripts/demo $(TARGET)

test:
	scripts/install-test-tools
	scripts/run-tests

test-quick:
	FOREBAY_QUICK=1 scripts/run-tests

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	scripts/check-licences

bench:
	bench/run
