//! Who this host is: names, versions, boot.

use crate::System;

impl System {
    /// Name of the host; empty if unknown.
    pub fn hostname(&self) -> String {
        self.text("/proc/sys/kernel/hostname").or_else(|| self.text("/etc/hostname")).unwrap_or_default()
    }

    /// Kernel release, such as `6.1.0-18-amd64`; empty if unknown.
    pub fn kernel(&self) -> String {
        self.text("/proc/sys/kernel/osrelease").unwrap_or_default()
    }

    /// The operating system's pretty name from os-release; empty if unknown.
    pub fn operating_system(&self) -> String {
        let release = self.text("/etc/os-release").or_else(|| self.text("/usr/lib/os-release"));
        release.as_deref().and_then(pretty_name).unwrap_or_default()
    }

    /// Vendor and product as the firmware (DMI, or the device tree) names them; empty if unknown.
    pub fn machine(&self) -> String {
        let vendor = self.text("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
        let product = self.text("/sys/class/dmi/id/product_name").unwrap_or_default();
        let names = if product.starts_with(&vendor) { product } else { format!("{vendor} {product}") };
        if !names.trim().is_empty() {
            return names.trim().to_owned();
        }
        let model = self.text("/proc/device-tree/model").unwrap_or_default();
        model.trim_end_matches('\0').to_owned()
    }

    /// The kernel's clock source (`tsc`, `kvm-clock`, `hpet`); empty if unknown.
    pub fn clock_source(&self) -> String {
        self.text("/sys/devices/system/clocksource/clocksource0/current_clocksource").unwrap_or_default()
    }

    /// Changes with every boot; empty if unknown. With it, a process id and a start time name one process for good.
    pub fn boot_id(&self) -> String {
        self.text("/proc/sys/kernel/random/boot_id").unwrap_or_default()
    }
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pretty_name_is_unquoted() {
        let text = "NAME=\"Rocky\"\nPRETTY_NAME=\"Rocky Linux 9.4 (Blue Onyx)\"\n";
        assert_eq!(pretty_name(text).as_deref(), Some("Rocky Linux 9.4 (Blue Onyx)"));
        assert_eq!(pretty_name("PRETTY_NAME=Plain").as_deref(), Some("Plain"));
        assert_eq!(pretty_name("NAME=x"), None);
    }
}
