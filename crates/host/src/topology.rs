//! vCPUs, the physical cores they share, and how many of them this process may use.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Cpu, System, cgroup, vcpu_list};

const VCPUS: &str = "/sys/devices/system/cpu";

/// What tells one pCore from another. Only equality matters: the kernel's numbers have gaps and repeat between sockets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PCore {
    /// Socket, die, cluster, core.
    Position([i64; 4]),
    /// The lowest vCPU of the siblings.
    Siblings(u32),
    /// Nothing is known: the vCPU stands for itself.
    Alone(u32),
}

impl System {
    /// The processor, counted over the vCPUs that are online.
    pub fn cpu(&self) -> Cpu {
        let online = self.online();
        let nodes = self.text("/sys/devices/system/node/online").map(|list| vcpu_list::parse(&list).len());
        Cpu {
            model: self.cpu_model(),
            sockets: self.sockets(&online),
            pcores: self.pcores_of(&online).len() as u32,
            vcpus: online.len() as u32,
            numa_nodes: nodes.unwrap_or(0).max(1) as u32,
            vcpus_allowed: self.vcpus_allowed(&online),
        }
    }

    /// The vCPUs of each pCore: siblings together, ascending by their lowest number. Online ones only, allowed or not.
    pub fn pcore_siblings(&self) -> Vec<Vec<u32>> {
        self.pcores_of(&self.online())
    }

    /// vCPUs for pinning ranks in order: one of every pCore first, then their siblings. Only those that are online and
    /// that the affinity allows (as for `sched_setaffinity`).
    pub fn pin_order(&self) -> Vec<u32> {
        let pcores = self.pcores_of(&self.allowed(&self.online()));
        let widest = pcores.iter().map(Vec::len).max().unwrap_or(0);
        (0..widest).flat_map(|turn| pcores.iter().filter_map(move |pcore| pcore.get(turn).copied())).collect()
    }

    fn online(&self) -> BTreeSet<u32> {
        let listed = self.text(format!("{VCPUS}/online")).map(|list| vcpu_list::parse(&list));
        listed.filter(|vcpus| !vcpus.is_empty()).unwrap_or_else(|| self.cpuinfo().into_keys().collect())
    }

    /// Online vCPUs of the process's affinity, which includes what its cpuset cgroup leaves. From `/proc/self/status`
    /// and not from `sched_getaffinity`: that one answers for the calling thread, which may be pinned already.
    fn allowed(&self, online: &BTreeSet<u32>) -> BTreeSet<u32> {
        let status = self.text("/proc/self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed: BTreeSet<u32> =
            list.map(vcpu_list::parse).unwrap_or_default().intersection(online).copied().collect();
        if allowed.is_empty() { online.clone() } else { allowed }
    }

    fn vcpus_allowed(&self, online: &BTreeSet<u32>) -> f64 {
        let allowed = self.allowed(online).len() as f64;
        cgroup::cpu_quota(self).map_or(allowed, |quota| quota.min(allowed))
    }

    fn pcores_of(&self, vcpus: &BTreeSet<u32>) -> Vec<Vec<u32>> {
        let cpuinfo = self.cpuinfo();
        let mut pcores: BTreeMap<PCore, Vec<u32>> = BTreeMap::new();
        for &vcpu in vcpus {
            pcores.entry(self.pcore_of(vcpu, &cpuinfo)).or_default().push(vcpu);
        }
        let mut pcores: Vec<_> = pcores.into_values().collect();
        pcores.sort();
        pcores
    }

    fn pcore_of(&self, vcpu: u32, cpuinfo: &BTreeMap<u32, Place>) -> PCore {
        let number = |name: &str| self.number::<i64>(format!("{VCPUS}/cpu{vcpu}/topology/{name}"));
        let outer = |name: &str| number(name).unwrap_or(-1);
        if let Some(core) = number("core_id").filter(|&core| core >= 0) {
            let package = outer("physical_package_id");
            return PCore::Position([package, outer("die_id"), outer("cluster_id"), core]);
        }
        let siblings = self.text(format!("{VCPUS}/cpu{vcpu}/topology/thread_siblings_list"));
        if let Some(lowest) = siblings.and_then(|list| vcpu_list::parse(&list).first().copied()) {
            return PCore::Siblings(lowest);
        }
        match cpuinfo.get(&vcpu) {
            Some(Place { package, core: Some(core) }) => {
                PCore::Position([package.unwrap_or(-1), -1, -1, *core])
            }
            _ => PCore::Alone(vcpu),
        }
    }

    fn sockets(&self, online: &BTreeSet<u32>) -> u32 {
        let cpuinfo = self.cpuinfo();
        let package = |vcpu: &u32| {
            self.number::<i64>(format!("{VCPUS}/cpu{vcpu}/topology/physical_package_id"))
                .or_else(|| cpuinfo.get(vcpu).and_then(|place| place.package))
                .unwrap_or(-1)
        };
        online.iter().map(package).collect::<BTreeSet<_>>().len() as u32
    }

    fn cpuinfo(&self) -> BTreeMap<u32, Place> {
        places(&self.text("/proc/cpuinfo").unwrap_or_default())
    }

    fn cpu_model(&self) -> String {
        model(&self.text("/proc/cpuinfo").unwrap_or_default())
    }
}

/// A vCPU's position as `/proc/cpuinfo` has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Place {
    package: Option<i64>,
    core: Option<i64>,
}

fn places(cpuinfo: &str) -> BTreeMap<u32, Place> {
    let mut places = BTreeMap::new();
    let mut current: Option<u32> = None;
    for line in cpuinfo.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        match (name.trim(), current) {
            ("processor", _) => {
                current = value.trim().parse().ok();
                current.map(|vcpu| places.insert(vcpu, Place::default()));
            }
            ("physical id", Some(vcpu)) => {
                places.entry(vcpu).or_default().package = value.trim().parse().ok();
            }
            ("core id", Some(vcpu)) => places.entry(vcpu).or_default().core = value.trim().parse().ok(),
            _ => {}
        }
    }
    places
}

/// The model's name; arm64 kernels print only the numbers of implementer and part.
fn model(cpuinfo: &str) -> String {
    let value = |wanted: &str| {
        let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields.map(|(name, value)| (name.trim(), value.trim())).find(|(name, _)| *name == wanted).map(|f| f.1)
    };
    if let Some(name) = value("model name").or_else(|| value("cpu")).or_else(|| value("Hardware")) {
        return name.to_owned();
    }
    match (value("CPU implementer"), value("CPU part")) {
        (Some(implementer), Some(part)) => format!("implementer {implementer} part {part}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuinfo_places_every_processor() {
        let places = places("processor\t: 0\nphysical id\t: 1\ncore id\t\t: 4\n\nprocessor\t: 7\nnonsense\n");
        assert_eq!(places[&0], Place { package: Some(1), core: Some(4) });
        assert_eq!(places[&7], Place::default());
    }

    #[test]
    fn arm_processors_have_numbers_for_a_name() {
        assert_eq!(model("CPU implementer\t: 0x41\nCPU part\t: 0xd40\n"), "implementer 0x41 part 0xd40");
        assert_eq!(model("processor: 0\nmodel name\t: Some CPU @ 2.5GHz\n"), "Some CPU @ 2.5GHz");
        assert_eq!(model(""), "");
    }
}
