use host::{BlockDevice, Cpu, Environment, Memory, Mount, NetworkInterface, Parameter};
use units::{Bandwidth, Bytes};

/// XFS on two striped NVMe devices.
pub fn raid_of_nvme(hostname: &str, pcores: u32) -> Environment {
    Environment {
        target: Some(Mount {
            mount_point: "/srv".to_owned(),
            source: "/dev/md0".to_owned(),
            file_system: "xfs".to_owned(),
            options: "rw,noatime,attr2,inode64,logbufs=8,logbsize=32k,sunit=1024,swidth=2048,noquota"
                .to_owned(),
            device_number: "9:0".to_owned(),
            size_bytes: Bytes::gib(3500),
            available_bytes: Bytes::gib(3120),
            free_bytes: Bytes::gib(3120),
            inodes: 366_963_200,
            inodes_free: 366_960_011,
        }),
        devices: vec![
            device("md0", "RAID 0 of 2", 3500, "none"),
            device("nvme0n1", "Local NVMe 1750G", 1750, "none"),
            device("nvme1n1", "Local NVMe 1750G", 1750, "none"),
        ],
        ..host(hostname, pcores)
    }
}

/// A Lustre client.
pub fn lustre_client(hostname: &str, pcores: u32) -> Environment {
    let parameter = |name: &str, value: &str| Parameter { name: name.to_owned(), value: value.to_owned() };
    Environment {
        target: Some(Mount {
            mount_point: "/lustre".to_owned(),
            source: "10.0.0.4@tcp:/lustre".to_owned(),
            file_system: "lustre".to_owned(),
            options: "rw,flock,lazystatfs,encrypt".to_owned(),
            device_number: "0:52".to_owned(),
            size_bytes: Bytes::tib(48),
            available_bytes: Bytes::tib(41),
            free_bytes: Bytes::tib(41),
            inodes: 0,
            inodes_free: 0,
        }),
        client_parameters: vec![
            parameter("osc.*.max_rpcs_in_flight", "8"),
            parameter("osc.*.max_pages_per_rpc", "1024"),
            parameter("llite.*.max_read_ahead_mb", "256"),
        ],
        ..host(hostname, pcores)
    }
}

fn host(hostname: &str, pcores: u32) -> Environment {
    Environment {
        hostname: hostname.to_owned(),
        kernel: "6.1.0-18-amd64".to_owned(),
        operating_system: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        machine: "ExampleCloud c5.4".to_owned(),
        cpu: Cpu {
            model: "Example Processor 8370C @ 2.80GHz".to_owned(),
            sockets: 1,
            pcores,
            vcpus: pcores * 2,
            numa_nodes: 1,
            vcpus_allowed: f64::from(pcores * 2),
        },
        memory: Memory {
            total_bytes: Bytes::gib(64),
            cgroup_limit_bytes: None,
            dirty_ratio_percent: 20,
            dirty_background_ratio_percent: 10,
        },
        clock_source: "tsc".to_owned(),
        interfaces: vec![
            NetworkInterface {
                name: "eth0".to_owned(),
                driver: "mlx5_core".to_owned(),
                speed_bytes_per_second: Some(Bandwidth::bytes_per_second(3.125e9)),
                mtu: 9000,
            },
            NetworkInterface {
                name: "eth1".to_owned(),
                driver: "ena".to_owned(),
                speed_bytes_per_second: None,
                mtu: 1500,
            },
        ],
        ..Environment::default()
    }
}

fn device(name: &str, model: &str, gib: u64, scheduler: &str) -> BlockDevice {
    BlockDevice {
        name: name.to_owned(),
        model: model.to_owned(),
        size_bytes: Bytes::gib(gib),
        rotational: false,
        scheduler: scheduler.to_owned(),
        nr_requests: 1023,
        read_ahead_bytes: Bytes::kib(128),
        max_request_bytes: Bytes::kib(1280),
        logical_block_bytes: Bytes::new(512),
        write_cache: "write through".to_owned(),
    }
}
