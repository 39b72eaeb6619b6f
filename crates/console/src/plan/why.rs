//! One design, limit by limit and price by price.

use record::{DesignSheet, StorageSheet};
use units::Bytes;

use super::figures::{dollars, headroom, mb, mix, tib};
use super::{costs, limits, listed, titled};
use crate::wrap::wrap;
use crate::{Align, Cell, Table, paint};

/// A design with everything that is known of it; `title` says which it is.
pub fn why(title: &str, sheet: &DesignSheet) -> String {
    let mut parts = vec![heading(title, sheet)];
    parts.extend(sheet.storages.iter().map(storage));
    parts.push(titled("Costs", &costs::table(sheet)));
    parts.extend(listed("What stands against it", sheet.refusals.iter().cloned()));
    parts.extend(upgrade(sheet));
    parts.join("\n\n")
}

fn heading(title: &str, sheet: &DesignSheet) -> String {
    let place = format!(
        "{} {}, {} prices; {} clients {}; figures {}",
        sheet.cloud, sheet.region, sheet.commitment, sheet.client_count, sheet.client_sku, sheet.confidence
    );
    let money = format!(
        "storage {}, clients {}, all {} per month",
        dollars(sheet.storage_usd_per_month),
        dollars(sheet.clients_usd_per_month),
        dollars(sheet.usd_per_month)
    );
    let title = wrap(&format!("{}: {}", paint::strong(title), sheet.title), "");
    format!("{title}\n{}\n{}", wrap(&place, ""), wrap(&money, ""))
}

fn storage(storage: &StorageSheet) -> String {
    let title = format!("{}: {}", paint::strong(&storage.name), storage.layout);
    let capacity = format!(
        "{} usable, {} needed; {} servers",
        tib(storage.capacity_bytes),
        tib(storage.needed_capacity_bytes),
        storage.servers
    );
    let mut parts =
        vec![wrap(&title, ""), capacity, rates(storage).to_string(), bound(storage), String::new()];
    parts.push(limits::table(storage));
    parts.push(wrap(
        &format!(
            "reached of the limits: reading {}, writing {}",
            storage.read_factor.text, storage.write_factor.text
        ),
        "",
    ));
    parts.extend(
        remarks(storage).into_iter().map(|remark| wrap(&format!("{}: {remark}", paint::note("note")), "")),
    );
    parts.join("\n")
}

fn rates(storage: &StorageSheet) -> Table {
    let mut table = Table::new([
        ("MB/s", Align::Left),
        ("needed", Align::Right),
        ("delivered", Align::Right),
        ("per pCore", Align::Right),
    ]);
    let (needed, delivered, each) = (&storage.needed, &storage.delivered, &storage.delivered_per_pcore);
    let rows = [
        (
            "read".to_owned(),
            needed.read_bytes_per_second,
            delivered.read_bytes_per_second,
            each.read_bytes_per_second,
        ),
        (
            "write".to_owned(),
            needed.write_bytes_per_second,
            delivered.write_bytes_per_second,
            each.write_bytes_per_second,
        ),
        (
            format!("mixed {}", mix(storage.read_share)),
            needed.mixed_bytes_per_second,
            delivered.mixed_bytes_per_second,
            each.mixed_bytes_per_second,
        ),
    ];
    for (name, needed, delivered, each) in rows {
        let met = delivered.zip(needed).is_none_or(|(delivered, needed)| delivered >= needed * (1.0 - 1e-6));
        let delivered = if met { Cell::new(mb(delivered)) } else { Cell::bad(mb(delivered)) };
        table.row([Cell::new(name), Cell::new(mb(needed)), delivered, Cell::new(mb(each))]);
    }
    table
}

fn bound(storage: &StorageSheet) -> String {
    let Some(bottleneck) = &storage.bottleneck else { return "nothing that is known bounds it".to_owned() };
    let next = match &storage.next_limit {
        Some(next) => format!("; the next is {next}, {} above it", headroom(storage.headroom)),
        None => String::new(),
    };
    wrap(&format!("bottleneck of {}s: {}{next}", storage.tightest, paint::strong(bottleneck)), "")
}

fn remarks(storage: &StorageSheet) -> Vec<String> {
    let mut remarks = Vec::new();
    if storage.write_law == "burst" {
        remarks.push(
            "writes follow the law of a burst that fits the servers' memory: 1 / rate = 1 / network + 1 / disks"
                .to_owned(),
        );
    }
    remarks.extend(storage.burst.as_ref().map(|burst| format!("for a while more: {burst}")));
    remarks.extend(storage.cache_bytes.map(|bytes| {
        format!(
            "reads of less than {} may come from the servers' memory, faster than this",
            Bytes::new(bytes)
        )
    }));
    remarks.extend(storage.notes.iter().cloned());
    remarks
}

fn upgrade(sheet: &DesignSheet) -> Option<String> {
    let upgrade = sheet.upgrade.as_ref()?;
    let cost = match upgrade.usd_per_month {
        Some(cost) => format!("{} more per month", dollars(Some(cost))),
        None => "at a price that is not known".to_owned(),
    };
    let rate = mb(Some(upgrade.delivered_bytes_per_second));
    let text = format!("{} for {}: then {rate} MB/s, {cost}", upgrade.what, upgrade.storage);
    listed("Next upgrade", [text])
}
