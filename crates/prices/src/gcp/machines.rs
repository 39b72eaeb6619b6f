//! Machines of Google Cloud: cores times their price and memory times its price.

use std::collections::HashMap;

use super::SOURCE;
use crate::meter::Meter;
use crate::sold::Sold;

/// How the price list names a series, where that is not the series in capitals.
const NAMES: [(&str, &str, &str); 3] = [
    ("n1", "n1 predefined", ""),
    ("n2d", "n2d amd", "n2d amd"),
    ("c2", "compute optimized", "compute optimized"),
];

/// The part of a machine that a description speaks of: `core:n2`, `ram:n2`. Custom, sole-tenant and spot machines have other
/// descriptions.
pub fn part(description: &str, committed: bool, series: &str) -> Option<String> {
    let text = description.to_lowercase().replace('-', " ");
    let known = NAMES.iter().find(|(of, _, _)| *of == series);
    let (on_demand, commitment) = known.map_or((series, series), |(_, a, b)| (*a, *b));
    let rest = if committed {
        text.strip_prefix("commitment v1: ")?.strip_prefix(commitment)?
    } else {
        let rest = text.strip_prefix(on_demand)?;
        rest.strip_prefix(" instance").unwrap_or(rest)
    };
    let word = rest.trim_start();
    if committed != (word.starts_with("cpu in ") || (word.starts_with("ram in ")))
        || !committed && !word.contains(" running in ")
    {
        return None;
    }
    match word.split(' ').next()? {
        "core" | "cpu" => Some(format!("core:{series}")),
        "ram" => Some(format!("ram:{series}")),
        _ => None,
    }
}

/// Whether a meter is a part of machines.
pub fn is_part(meter: &Meter) -> bool {
    is_part_name(&meter.item)
}

/// Whether an item is a part of machines.
pub fn is_part_name(item: &str) -> bool {
    item.starts_with("core:") || item.starts_with("ram:")
}

/// The machines that the parts make up. Those with local SSDs are left out: these have a price of their own.
pub fn priced(parts: &[Meter], sold: &Sold<'_>) -> Vec<Meter> {
    let known: HashMap<(&str, &str, &str), &Meter> =
        parts.iter().map(|part| ((&*part.region, &*part.term, &*part.item), part)).collect();
    let mut priced = Vec::new();
    for vm in sold.vms().filter(|vm| vm.nvme.is_none() && !vm.sku.ends_with("-lssd")) {
        let (Some(item), Some(memory)) = (sold.vm(&vm.sku), vm.memory) else { continue };
        let (core, ram) = (format!("core:{}", vm.series), format!("ram:{}", vm.series));
        for ((region, term, _), core) in known.iter().filter(|((_, _, part), _)| *part == core) {
            let Some(ram) = known.get(&(*region, *term, &*ram)) else { continue };
            priced.push(Meter {
                item: item.clone(),
                meter: format!("{}+{}", core.meter, ram.meter),
                unit: "each-hour".to_owned(),
                usd: core.usd * f64::from(vm.vcpus) + ram.usd * memory.as_gib(),
                notes: format!("{} vCPUs and {} GiB", vm.vcpus, memory.as_gib()),
                source: format!("{SOURCE} (cores and memory of {})", vm.series),
                ..(*core).clone()
            });
        }
    }
    priced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart_by_the_whole_description() {
        let core = |series: &str| Some(format!("core:{series}"));
        assert_eq!(part("N2 Instance Core running in Americas", false, "n2"), core("n2"));
        assert_eq!(part("N2D AMD Instance Core running in Americas", false, "n2d"), core("n2d"));
        assert_eq!(part("N1 Predefined Instance Core running in Iowa", false, "n1"), core("n1"));
        assert_eq!(part("Compute optimized Core running in Americas", false, "c2"), core("c2"));
        assert_eq!(part("C3 Instance Ram running in Americas", false, "c3"), Some("ram:c3".to_owned()));
        assert_eq!(part("Commitment v1: N2 Cpu in Americas for 1 Year", true, "n2"), core("n2"));
        assert_eq!(part("Commitment v1: Cpu in Americas for 1 Year", true, "n1"), core("n1"));
        for (other, series) in [
            ("N2D AMD Instance Core running in Americas", "n2"),
            ("C3D Instance Core running in Americas", "c3"),
            ("N2 Custom Instance Core running in Americas", "n2"),
            ("N2 Sole Tenancy Instance Core running in Americas", "n2"),
            ("Spot Preemptible N2 Instance Core running in Americas", "n2"),
            ("N2 Custom Extended Instance Ram running in Americas", "n2"),
        ] {
            assert_eq!(part(other, false, series), None, "{other}");
        }
        assert_eq!(part("Commitment v1: N2D AMD Cpu in Americas for 1 Year", true, "n2"), None);
        assert_eq!(part("Commitment v1: N2 Cpu in Americas for 1 Year", true, "n1"), None);
    }
}
