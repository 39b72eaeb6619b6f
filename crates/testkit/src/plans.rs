//! Plan documents that look like real ones, for tests of everything that reads them. Figures agree with each other: what
//! is delivered is the smallest limit, and totals are the sums of their parts.

use record::{
    CostRow, DesignSheet, FactorRow, GrownDesign, GrowthStep, LimitRow, PLAN_VERSION, PlanDocument, RatesRow,
    RefusedFamily, StorageSheet, Upgrade,
};

const TIB: u64 = 1 << 40;
const SOURCE: &str = "Provider documentation, disk pages (2026-05-20)";

/// A design to be made.
#[derive(Debug, Clone)]
pub struct Sketch {
    /// Name of its storage.
    pub storage: &'static str,
    /// Kind of its storage.
    pub family: &'static str,
    /// The design in one line.
    pub layout: &'static str,
    /// Place, name and MB/s of every limit, as stated.
    pub limits: Vec<(&'static str, &'static str, f64)>,
    /// What is required in MB/s, all clients together.
    pub needed_mb: f64,
    /// pCores and clients of the grid.
    pub grid: (u32, u32),
    /// Part, what, US dollars per month of everything but the clients.
    pub costs: Vec<(&'static str, &'static str, Option<f64>)>,
}

impl Default for Sketch {
    /// Lustre on VMs for 48 pCores that need 7200 MB/s.
    fn default() -> Self {
        Self {
            storage: "data",
            family: "lustre-on-vms",
            layout: "Lustre: 21 x Standard_E16s_v3 with 7 x S40, MDS Standard_D8s_v3, 294 TiB",
            limits: vec![
                ("client_network", "client network", 12_000.0),
                ("server_network", "server network", 21_000.0),
                ("server_disks", "server VM disk limit", 8_064.0),
                ("disk_bandwidth", "disk bandwidth", 8_820.0),
                ("disk_iops", "disk IOPS", 73_500.0),
            ],
            needed_mb: 7_200.0,
            grid: (48, 6),
            costs: vec![
                ("servers", "21 x Standard_E16s_v3", Some(15_452.64)),
                ("disks", "147 x S40", Some(11_289.6)),
                ("metadata servers", "1 x Standard_D8s_v3", Some(280.32)),
            ],
        }
    }
}

fn rates(mb: f64) -> RatesRow {
    let rate = Some(mb * 1e6);
    RatesRow { read_bytes_per_second: rate, write_bytes_per_second: rate, mixed_bytes_per_second: rate }
}

impl Sketch {
    const FACTOR: f64 = 0.9;

    /// The design.
    pub fn sheet(&self) -> DesignSheet {
        let storage = self.costs.iter().map(|cost| cost.2).sum::<Option<f64>>();
        let clients = f64::from(self.grid.1) * 560.64;
        let delivered = self.delivered();
        let named = |cost: &(&str, &str, Option<f64>)| CostRow {
            storage: Some(self.storage.to_owned()),
            part: cost.0.to_owned(),
            what: cost.1.to_owned(),
            usd_per_month: cost.2,
            doubt: (cost.0 == "disks").then(|| "list price of 2024-05".to_owned()),
            source: Some("Price list (2026-07-20)".to_owned()),
        };
        let client = CostRow {
            storage: None,
            part: "clients".to_owned(),
            what: format!("{} x Standard_D16s_v3", self.grid.1),
            usd_per_month: Some(clients),
            doubt: None,
            source: Some("Price list (2026-07-20)".to_owned()),
        };
        DesignSheet {
            title: self.layout.to_owned(),
            cloud: "azure".to_owned(),
            region: "eastus".to_owned(),
            commitment: "payg".to_owned(),
            client_sku: "Standard_D16s_v3".to_owned(),
            client_count: self.grid.1,
            storages: vec![self.storage(storage)],
            costs: self.costs.iter().map(named).chain([client]).collect(),
            storage_usd_per_month: storage,
            clients_usd_per_month: Some(clients),
            usd_per_month: storage.map(|storage| storage + clients),
            usd_per_month_per_mb_per_second: storage.map(|storage| storage / delivered),
            confidence: "published".to_owned(),
            refusals: Vec::new(),
            upgrade: Some(Upgrade {
                what: "one more OSS".to_owned(),
                storage: self.storage.to_owned(),
                delivered_bytes_per_second: delivered * 1.05e6,
                usd_per_month: Some(735.84),
            }),
            design: serde_json::json!({ "version": 1, "grid": { "name": "sample", "pcores": self.grid.0 } }),
        }
    }

    fn delivered(&self) -> f64 {
        self.limits.iter().map(|limit| limit.2 * Self::FACTOR).fold(f64::INFINITY, f64::min)
    }

    fn storage(&self, usd_per_month: Option<f64>) -> StorageSheet {
        let mut sorted = self.limits.clone();
        sorted.sort_by(|a, b| a.2.total_cmp(&b.2));
        let delivered = self.delivered();
        let factor = || FactorRow {
            value: Self::FACTOR,
            text: "0.90 (0.85-0.95, n=4, published)".to_owned(),
            basis: "published".to_owned(),
        };
        let limit = |limit: &(&str, &str, f64)| LimitRow {
            place: limit.0.to_owned(),
            name: limit.1.to_owned(),
            stated: rates(limit.2),
            reached: rates(limit.2 * Self::FACTOR),
            cause: format!("so many of them, {:.1} MB/s together", limit.2),
            source: Some(SOURCE.to_owned()),
        };
        StorageSheet {
            name: self.storage.to_owned(),
            family: self.family.to_owned(),
            layout: self.layout.to_owned(),
            capacity_bytes: 294 * TIB,
            needed_capacity_bytes: 100 * TIB,
            read_share: 0.8,
            needed: rates(self.needed_mb),
            delivered: rates(delivered),
            delivered_per_pcore: rates(delivered / f64::from(self.grid.0)),
            limits: self.limits.iter().map(limit).collect(),
            unknown: Vec::new(),
            tightest: "read".to_owned(),
            bottleneck: sorted.first().map(|limit| limit.1.to_owned()),
            next_limit: sorted.get(1).map(|limit| limit.1.to_owned()),
            headroom: sorted.first().zip(sorted.get(1)).map(|(first, next)| next.2 / first.2 - 1.0),
            read_factor: factor(),
            write_factor: factor(),
            write_law: "stream".to_owned(),
            burst: None,
            cache_bytes: Some(2 * TIB),
            servers: 22,
            usd_per_month,
            refusals: Vec::new(),
            notes: vec!["a file is striped over one OST unless `lfs setstripe` says otherwise".to_owned()],
        }
    }
}

/// A plan with three families ranked, one design apart for a price and one for a limit, one family refused, and growth.
pub fn plan() -> PlanDocument {
    let lustre = Sketch::default();
    let managed = Sketch {
        family: "managed-lustre",
        layout: "AMLFS-Durable-Premium-125, 101 TiB",
        limits: vec![
            ("client_network", "client network", 12_000.0),
            ("service_throughput", "service throughput", 12_600.0),
        ],
        costs: vec![("service", "101 TiB of AMLFS-Durable-Premium-125", Some(29_400.0))],
        ..lustre.clone()
    };
    let shared = Sketch {
        family: "shared-volumes",
        layout: "GFS2 on 2 x io2-bx (50 TiB, 15259 IOPS), attached to all clients, 100 TiB",
        limits: vec![("disk_bandwidth", "disk bandwidth", 8_010.0), ("disk_iops", "disk IOPS", 8_000.0)],
        costs: vec![("disks", "2 x io2-bx of 50 TiB", Some(48_783.67))],
        ..lustre.clone()
    };
    let unpriced = Sketch { costs: vec![("service", "100 TiB of Tier-X", None)], ..managed.clone() };
    let mut unbounded = managed.sheet();
    unbounded.storages[0].unknown = vec!["client mount: what one client reaches".to_owned()];
    PlanDocument {
        version: PLAN_VERSION,
        grid: "sample".to_owned(),
        pcores: 48,
        figures: "calibrated".to_owned(),
        objective: "cost".to_owned(),
        regions: vec!["azure eastus".to_owned(), "gcp us-central1".to_owned()],
        rules: vec!["an OST has at least 256 GiB".to_owned(), "Lustre has at least 3 OSSs".to_owned()],
        ranked: vec![lustre.sheet(), managed.sheet(), shared.sheet()],
        limits_unknown: vec![unbounded],
        prices_unknown: vec![unpriced.sheet()],
        over_budget: None,
        impossible: Vec::new(),
        front: vec![0, 1],
        refused: ["azure eastus", "gcp us-central1"].map(refused).into(),
        growth: growth(),
        looked_at: 65_186,
    }
}

/// A design for the samples of runs: 16 pCores on 2 clients, of which a run uses 8 on 1, and whose `work` is limited by
/// the servers' disks when read and by something else when written.
pub fn for_a_run() -> DesignSheet {
    Sketch {
        storage: "work",
        layout: "Lustre: 3 x Standard_E16s_v3 with 4 x S40, MDS Standard_D8s_v3, 24 TiB",
        limits: vec![
            ("client_network", "client network", 4_000.0),
            ("server_network", "server network", 6_000.0),
            ("server_disks", "server VM disk limit", 1_950.0),
            ("disk_bandwidth", "disk bandwidth", 2_880.0),
            ("disk_iops", "disk IOPS", 28_000.0),
        ],
        needed_mb: 2_400.0,
        grid: (16, 2),
        ..Sketch::default()
    }
    .sheet()
}

fn refused(region: &str) -> RefusedFamily {
    RefusedFamily {
        region: region.to_owned(),
        storage: "data".to_owned(),
        family: "local-nvme".to_owned(),
        reasons: vec!["its content is lost when a client stops, and `data` must survive that".to_owned()],
    }
}

fn growth() -> Vec<GrowthStep> {
    let design = |title: &str, usd, change: &str| GrownDesign {
        title: title.to_owned(),
        usd_per_month: Some(usd),
        change: change.to_owned(),
    };
    let twice = design(
        "Lustre: 42 x Standard_E16s_v3 with 7 x S40, 588 TiB",
        58_800.0,
        "21 more OSSs (42), 147 more OSTs (294)",
    );
    vec![
        GrowthStep { factor: 2.0, same_kind: Some(twice.clone()), best: Some(twice), stops: Vec::new() },
        GrowthStep {
            factor: 4.0,
            same_kind: None,
            best: Some(design("AMLFS-Durable-Premium-125, 404 TiB", 121_000.0, "other storage")),
            stops: vec!["a file system has at most 160 OSTs".to_owned()],
        },
    ]
}
