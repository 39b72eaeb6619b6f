//! The running machine: facts must hold together, whatever it is.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::{CounterSource, System, process_alive, thread_cpu_time};
use units::Bytes;

#[test]
fn the_processor_makes_sense() {
    let system = System::here();
    let cpu = system.cpu();
    assert!(1 <= cpu.sockets && cpu.sockets <= cpu.pcores && cpu.pcores <= cpu.vcpus);
    assert!(cpu.vcpus_allowed > 0.0 && cpu.vcpus_allowed <= f64::from(cpu.vcpus));
    let mut pinned = system.pin_order();
    let all = pinned.len();
    pinned.sort_unstable();
    pinned.dedup();
    assert_eq!(pinned.len(), all);
    assert!(system.pcore_siblings().concat().len() == cpu.vcpus as usize);
}

#[test]
fn the_affinity_agrees_with_the_kernel() {
    let order = System::here().pin_order();
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    assert!(order.iter().all(|&vcpu| allowed.is_set(vcpu as usize)));
    assert_eq!(order.len(), allowed.count() as usize);
}

#[test]
fn a_new_directory_is_on_a_mounted_file_system() {
    let directory = tempfile::tempdir().unwrap();
    let environment = System::here().environment(Some(directory.path())).unwrap();
    let mount = environment.target.unwrap();
    let real = fs::canonicalize(directory.path()).unwrap();
    assert!(real.starts_with(&mount.mount_point), "{mount:?}");
    assert!(mount.size_bytes > Bytes::ZERO && !mount.file_system.is_empty());
    assert!(environment.memory.total_bytes > Bytes::ZERO);
    assert!(System::here().available_memory() <= environment.memory.total_bytes);
    assert!(!environment.kernel.is_empty() && !environment.hostname.is_empty());
}

#[test]
fn a_missing_target_is_named() {
    let fault = System::here().mount_of(Path::new("/no/such/place")).unwrap_err();
    assert_eq!(fault.kind(), fault::Kind::NotFound);
    assert!(fault.message().contains("`/no/such/place`"), "{fault}");
}

#[test]
fn a_process_is_gone_when_it_has_ended() {
    let system = System::here();
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    let start = system.process_start(child.id()).unwrap();
    let alive = process_alive(child.id(), start);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(alive && !process_alive(child.id(), start));
}

#[test]
fn a_thread_s_time_and_the_counters_only_grow() {
    let (thread, probe) = (thread_cpu_time(), System::here().probe(Path::new("/")).unwrap());
    let before = probe.counters();
    let sum = (0..2_000_000u64).fold(0, |sum: u64, number| std::hint::black_box(sum ^ number));
    std::hint::black_box(sum);
    assert!(thread_cpu_time() > thread);
    let after = probe.counters();
    assert!(after.cpu.process_user_ns >= before.cpu.process_user_ns);
    assert!(after.cpu.busy_per_vcpu_ns.len() >= System::here().cpu().vcpus as usize);
}

/// An ext4 in a file, mounted through a loop device; undone at the end whatever happens.
struct LoopMount {
    directory: tempfile::TempDir,
}

impl LoopMount {
    /// Says why if this machine can't; in CI that is a failure.
    fn new(megabytes: u64) -> Option<Self> {
        let made = Self::try_new(megabytes);
        if let Err(reason) = &made {
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "must not be skipped in CI: {reason}"
            );
            eprintln!("skipped: {reason}");
        }
        made.ok()
    }

    fn try_new(megabytes: u64) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("loop devices need root".to_owned());
        }
        let made = Self { directory: tempfile::tempdir().map_err(|error| error.to_string())? };
        let image = made.directory.path().join("image");
        File::create(&image)
            .and_then(|file| file.set_len(megabytes << 20))
            .map_err(|error| error.to_string())?;
        fs::create_dir(made.path()).map_err(|error| error.to_string())?;
        run(Command::new("mkfs.ext4").arg("-q").arg(&image))?;
        run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(made.path()))?;
        Ok(made)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("mounted here")
    }
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn bytes_written_to_a_loop_mounted_ext4_are_counted_by_its_device() {
    let Some(mounted) = LoopMount::new(64) else { return };
    let system = System::here();
    let probe = system.probe(&mounted.path()).unwrap();
    let mount = probe.mount();
    assert_eq!(Path::new(&mount.mount_point), fs::canonicalize(mounted.path()).unwrap());
    assert_eq!((mount.file_system.as_str(), probe.source()), ("ext4", Some(CounterSource::Device)));
    assert!(mount.size_bytes < Bytes::mib(64) && mount.inodes > 0);

    let before = probe.counters();
    let mut file = File::create(mounted.path().join("data")).unwrap();
    file.write_all(&vec![7u8; 8 << 20]).unwrap();
    file.sync_all().unwrap();
    let moved = probe.counters().since(&before).traffic;
    assert_eq!(moved.len(), 1);
    assert!(moved[0].name.starts_with("loop"));
    assert!(moved[0].written_bytes >= Bytes::mib(8), "{moved:?}");

    let devices = system.environment(Some(&mounted.path())).unwrap().devices;
    assert_eq!(devices[0].name, moved[0].name);
    assert!(devices[0].model.ends_with("/image") && devices[0].size_bytes == Bytes::mib(64));
    assert!(devices.len() > 1 || system.mount_of(mounted.directory.path()).unwrap().file_system == "tmpfs");
}

#[test]
fn a_bind_mount_is_found_where_it_is_mounted() {
    let Some(mounted) = LoopMount::new(16) else { return };
    let (inside, bound) = (mounted.path().join("inside"), mounted.directory.path().join("bound"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&bound).unwrap();
    run(Command::new("mount").arg("--bind").arg(&inside).arg(&bound)).unwrap();
    let mount = System::here().mount_of(&bound);
    run(Command::new("umount").arg(&bound)).unwrap();
    assert_eq!(Path::new(&mount.unwrap().mount_point), fs::canonicalize(&bound).unwrap());
}
