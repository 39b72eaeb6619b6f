//! Transfers: sizes, orders, ranges.

use fault::Result;
use units::Ratio;

use super::super::{Fsync, Layout, Order, Pacing, Transfer, TransferSize, Workload};
use super::{LARGEST_TRANSFER, wrong};

/// The deepest queue an `io_uring` accepts.
const DEEPEST_QUEUE: u32 = 32_768;

impl Workload {
    pub(super) fn check_transfer(&self, name: &str, transfer: &Transfer) -> Result<()> {
        let (unit, largest) = (transfer.transfer_size.unit().get(), transfer.transfer_size.largest().get());
        if unit == 0 || largest > LARGEST_TRANSFER {
            return Err(wrong(
                format!("phase `{name}`: the transfer size must be between 1 B and 1 GiB"),
                "set `transfer_size`",
            ));
        }
        check_sizes(name, transfer)?;
        self.check_prefill(name, transfer)?;
        self.check_hits(name, transfer)?;
        let block = self.files.block_size;
        if !self.files.are_multiples_of(transfer.transfer_size.unit()) {
            return Err(wrong(
                format!(
                    "phase `{name}`: the block size {block} is not a multiple of the transfer size {}",
                    transfer.transfer_size.unit()
                ),
                "round `block_size`",
            ));
        }
        if transfer.queue_depth == 0 || transfer.queue_depth > DEEPEST_QUEUE {
            return Err(wrong(
                format!(
                    "phase `{name}`: queue depth {} is not between 1 and {DEEPEST_QUEUE}",
                    transfer.queue_depth
                ),
                "set `queue_depth`",
            ));
        }
        if transfer.range_start == transfer.range_end {
            return Err(wrong(
                format!(
                    "phase `{name}`: the range {} to {} is empty",
                    transfer.range_start, transfer.range_end
                ),
                "a range that goes over the end of the file has its start behind its end",
            ));
        }
        self.check_order(name, transfer.order)?;
        self.check_offset(name, transfer)?;
        check_blocks(name, transfer)?;
        if transfer.fsync == Fsync::Every(0) {
            return Err(wrong(
                format!("phase `{name}`: fsync after every 0 writes is never"),
                "set `every` to 1 or more, or `fsync = \"never\"`",
            ));
        }
        if let Pacing::Open { operations_per_second: rate, .. } = transfer.pacing
            && !(rate.is_finite() && rate > 0.0)
        {
            return Err(wrong(
                format!("phase `{name}`: {rate} operations per second is no rate"),
                "set `operations_per_second` above 0",
            ));
        }
        Ok(())
    }

    /// Transfers off their multiples stay in one file, which is each rank's own.
    fn check_offset(&self, name: &str, transfer: &Transfer) -> Result<()> {
        let Some(offset) = transfer.offset else { return Ok(()) };
        let wrong = |what: &str, hint: &str| Err(wrong(format!("phase `{name}`: `offset` {what}"), hint));
        let unit = transfer.transfer_size.largest();
        if self.files.layout == Layout::Shared {
            return wrong("is for files that ranks have of their own", "use `layout = \"per_rank\"`");
        }
        if transfer.range_start >= transfer.range_end {
            return wrong("and a range over the end of the file exclude each other", "leave out one of them");
        }
        if offset.get() == 0 || offset + unit * 2 > self.files.smallest_block() * self.files.segments {
            return wrong("leaves no room for transfers", "lower it, or raise `block_size`");
        }
        Ok(())
    }

    /// What comes with an order must make sense.
    fn check_order(&self, name: &str, order: Order) -> Result<()> {
        match order {
            Order::SeekPercent(percent) if !(0.0..=100.0).contains(&percent) => {
                return Err(wrong(
                    format!("phase `{name}`: {percent} is not a percentage"),
                    "set `seek_percent` between 0 and 100",
                ));
            }
            Order::Stride(0) => {
                return Err(wrong(
                    format!("phase `{name}`: a stride of 0 never moves"),
                    "set `stride` to 1 or more",
                ));
            }
            Order::RandomRuns(0) => {
                return Err(wrong(
                    format!("phase `{name}`: runs of 0 transfers go nowhere"),
                    "set `random_runs` to 1 or more",
                ));
            }
            Order::Skip { percent, .. } if !(0.0..=100.0).contains(&percent) => {
                return Err(wrong(
                    format!("phase `{name}`: {percent} is not a percentage"),
                    "set `percent` of `skip` between 0 and 100",
                ));
            }
            Order::Skip { smallest, largest, .. } if smallest > largest => {
                return Err(wrong(
                    format!("phase `{name}`: {smallest:#} to {largest:#} is nothing to skip"),
                    "`smallest` must not be above `largest`",
                ));
            }
            Order::Streams(0) => {
                return Err(wrong(format!("phase `{name}`: no streams"), "set `streams` to 1 or more"));
            }
            Order::Streams(streams)
                if self.files.layout == Layout::Shared && !self.ranks.is_multiple_of(streams) =>
            {
                return Err(wrong(
                    format!("phase `{name}`: {} ranks can't be dealt to {streams} streams", self.ranks),
                    "every stream of a shared file needs the same number of ranks: round `ranks`",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Only writes are prefilled, with calls that make up a block.
    fn check_prefill(&self, name: &str, transfer: &Transfer) -> Result<()> {
        let Some(size) = transfer.prefill else { return Ok(()) };
        if transfer.reads() {
            return Err(wrong(
                format!("phase `{name}` reads: only the time of a write can have a prefill in it"),
                "leave out `prefill`, or put a phase that writes in front",
            ));
        }
        let block = self.files.block_size;
        let fits = size.get() > 0 && size.get() <= LARGEST_TRANSFER && self.files.are_multiples_of(size);
        if !fits {
            return Err(wrong(
                format!("phase `{name}`: the block size {block} is not a multiple of the prefill's {size:#}"),
                "set `prefill` to a divisor of `block_size`, at most 1 GiB",
            ));
        }
        Ok(())
    }

    /// The hit area is a part of what orders with chance in them can go to.
    fn check_hits(&self, name: &str, transfer: &Transfer) -> Result<()> {
        if !transfer.has_hits() {
            return Ok(());
        }
        if !matches!(transfer.order, Order::Random | Order::SeekPercent(_) | Order::Skip { .. }) {
            return Err(wrong(
                format!("phase `{name}`: a hit area goes with random offsets only"),
                "set `order` to `random`, `seek_percent` or `skip`, or leave out `read_hits` and `write_hits`",
            ));
        }
        let used = transfer.range_end.get() - transfer.range_start.get();
        let used = if used > 0.0 { used } else { 1.0 + used };
        let smallest = self.files.smallest_block().get() as f64 / self.files.block_size.get() as f64;
        let range = self.files.file_size(self.ranks).get() as f64 * smallest * used;
        let area = transfer.hit_area;
        if area < transfer.transfer_size.largest() || area.get() as f64 >= range {
            return Err(wrong(
                format!(
                    "phase `{name}`: a hit area of {area:#} must hold a transfer and be smaller than the range"
                ),
                "set `hit_area`, or use larger files",
            ));
        }
        Ok(())
    }
}

/// Orders that go by blocks go through all of them.
fn check_blocks(name: &str, transfer: &Transfer) -> Result<()> {
    let by_blocks = matches!(transfer.order, Order::RandomInBlocks | Order::RandomDrawn);
    if by_blocks && (transfer.range_start > Ratio::ZERO || transfer.range_end < Ratio::ONE) {
        return Err(wrong(
            format!("phase `{name}`: an order inside blocks goes through all of each block"),
            "leave out `range_start` and `range_end`, or use the order `random_once`",
        ));
    }
    Ok(())
}

/// Sizes that are drawn must fit a grid of offsets.
fn check_sizes(name: &str, transfer: &Transfer) -> Result<()> {
    let unit = transfer.transfer_size.unit();
    match &transfer.transfer_size {
        TransferSize::Fixed(_) => return Ok(()),
        TransferSize::Weighted(sizes) => {
            let weights: u64 = sizes.iter().map(|s| u64::from(s.weight)).sum();
            let aligned = sizes.iter().all(|s| s.size.get().is_multiple_of(unit.get()));
            if !aligned || weights == 0 || weights > u64::from(u32::MAX) {
                return Err(wrong(
                    format!(
                        "phase `{name}`: weighted transfer sizes must be multiples of the smallest, with some weight"
                    ),
                    "for example 4KiB, 8KiB, 64KiB",
                ));
            }
        }
        TransferSize::Range { smallest, largest, step } => {
            let aligned = [smallest, largest].iter().all(|s| s.get().is_multiple_of(step.get()));
            if !aligned || smallest.get() == 0 || smallest > largest {
                return Err(wrong(
                    format!(
                        "phase `{name}`: {smallest:#} to {largest:#} in steps of {step:#} is no range of sizes"
                    ),
                    "both ends must be multiples of `step`, and the smallest not above the largest",
                ));
            }
        }
    }
    let of_one_size = matches!(
        transfer.order,
        Order::RandomOnce
            | Order::RandomInBlocks
            | Order::RandomDrawn
            | Order::RandomRuns(_)
            | Order::Stride(_)
            | Order::Streams(_)
    );
    if of_one_size {
        return Err(wrong(
            format!("phase `{name}`: transfers of different sizes can't visit every offset once"),
            "use one `transfer_size`, or the order `sequential`, `reverse`, `random` or `seek_percent`",
        ));
    }
    Ok(())
}
