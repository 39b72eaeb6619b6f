//! From a location to an open store. Credentials come from where each provider's own tools look for them, never from us.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fault::{Fault, Kind};
use opendal::Operator;
use tokio::runtime::Runtime;

use super::redact::redacted;
use super::remote::Remote;
use super::{Abilities, Location, ObjectStore, Service};

/// How patient we are with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How long a call without content may take; content adds its share.
    pub timeout: Duration,
    /// How often a part of a large object is tried.
    pub tries: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { timeout: Duration::from_mins(1), tries: 6 }
    }
}

/// Looks up a variable of the environment.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Opens a location. Nothing is sent yet, but what finds a bucket's region.
pub fn connect(location: &Location, settings: Settings) -> fault::Result<Box<dyn ObjectStore>> {
    connect_as(location, settings, &|name| std::env::var(name).ok())
}

/// The same in another environment than this process's.
pub fn connect_as(
    location: &Location,
    settings: Settings,
    environment: Lookup<'_>,
) -> fault::Result<Box<dyn ObjectStore>> {
    prepare_tls();
    let setting =
        |names: &[&str]| names.iter().find_map(|name| environment(name).filter(|value| !value.is_empty()));
    let setting = &setting;
    let runtime = runtime()?;
    let operator = match location.service {
        Service::S3 => s3(location, setting, &runtime),
        Service::Azure => azure(location, setting),
        Service::Google => google(location, setting),
        Service::Swift => swift(location, setting),
        Service::Hdfs => hdfs(location, setting),
    }?;
    let abilities = abilities(location.service);
    let shown = location.to_string();
    Ok(Box::new(Remote::new(shown, abilities, operator, runtime, settings.timeout, settings.tries)))
}

/// What each service can do, the labels' room as its documentation says.
fn abilities(service: Service) -> Abilities {
    let object_store = Abilities {
        labels: true,
        most_label_bytes: 2 << 10,
        labels_with_content: false,
        plain_label_names: false,
        directory_marks: true,
        tied_reads: true,
        tags: true,
        tags_follow_labels: false,
        copies: true,
        takes_parts: false,
        resumes: false,
        writes_new: true,
        longest_key: 1024,
        least_part: 5 << 20,
        most_parts: 10_000,
    };
    match service {
        // Of OpenDAL's services only this one's writer takes parts of objects; none of its copies takes other labels.
        Service::S3 => {
            Abilities { labels_with_content: true, takes_parts: true, resumes: true, ..object_store }
        }
        Service::Azure => Abilities {
            most_label_bytes: 8 << 10,
            plain_label_names: true,
            tags_follow_labels: true,
            most_parts: 50_000,
            least_part: 1,
            ..object_store
        },
        Service::Google => Abilities { most_label_bytes: 8 << 10, tags_follow_labels: true, ..object_store },
        Service::Swift => {
            Abilities { most_label_bytes: 4 << 10, most_parts: 1000, writes_new: false, ..object_store }
        }
        Service::Hdfs => Abilities {
            labels: false,
            most_label_bytes: 0,
            directory_marks: false,
            tied_reads: false,
            tags: false,
            copies: false,
            writes_new: false,
            longest_key: 4000,
            least_part: 1,
            ..object_store
        },
    }
}

/// The cryptography that all connections use; whoever set one first keeps it.
fn prepare_tls() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        opendal_http_transport_reqwest::install_default();
    });
}

/// Two threads for the network's events, shared by all stores; the work is done by those who ask.
fn runtime() -> fault::Result<Arc<Runtime>> {
    static RUNTIME: OnceLock<Arc<Runtime>> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime.clone());
    }
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let built = built.map_err(|error| Fault::new(Kind::Io, "cannot start threads").caused_by(error))?;
    Ok(RUNTIME.get_or_init(|| Arc::new(built)).clone())
}

#[cfg(not(all(
    feature = "s3",
    feature = "azblob",
    feature = "gcs",
    feature = "swift",
    feature = "webhdfs"
)))]
fn left_out(location: &Location) -> Fault {
    Fault::new(Kind::Unsupported, format!("`{location}` needs a part that this program was built without"))
        .hint("build it with all features")
}

/// Finds a variable that is set to something, by the first of its names.
type Setting<'a> = &'a dyn Fn(&[&str]) -> Option<String>;

fn opened(location: &Location, built: opendal::Result<Operator>) -> fault::Result<Operator> {
    built.map_err(|error| {
        let text = format!("cannot open `{location}`: {}", redacted(error.message()));
        Fault::new(Kind::Usage, text).hint("check the variables that configure this store")
    })
}

#[cfg(feature = "s3")]
fn s3(location: &Location, setting: Setting<'_>, runtime: &Runtime) -> fault::Result<Operator> {
    use opendal::services::S3;
    let endpoint = setting(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
    let mut builder = S3::default().root(&location.prefix).bucket(&location.bucket);
    let mut region = setting(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
    if region.is_none() && endpoint.is_none() {
        let asked = S3::detect_region("https://s3.amazonaws.com", &location.bucket);
        let asked = async { tokio::time::timeout(Duration::from_secs(10), asked).await };
        region = runtime.block_on(asked).ok().flatten();
    }
    // The usual chain finds these by itself, and much else; named here they hold for an environment of one's own too.
    if let (Some(id), Some(secret)) = (setting(&["AWS_ACCESS_KEY_ID"]), setting(&["AWS_SECRET_ACCESS_KEY"])) {
        builder = builder.access_key_id(&id).secret_access_key(&secret);
        if let Some(token) = setting(&["AWS_SESSION_TOKEN"]) {
            builder = builder.session_token(&token);
        }
    }
    builder = builder.region(region.as_deref().unwrap_or("us-east-1"));
    if let Some(endpoint) = endpoint {
        builder = builder.endpoint(&endpoint);
    }
    if setting(&["AWS_EC2_METADATA_DISABLED"]).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        builder = builder.disable_ec2_metadata();
    }
    opened(location, Operator::new(builder))
}

#[cfg(not(feature = "s3"))]
fn s3(location: &Location, _setting: Setting<'_>, _runtime: &Runtime) -> fault::Result<Operator> {
    Err(left_out(location))
}

/// The account and key that Azurite has unless told otherwise; they are public.
#[cfg(feature = "azblob")]
const EMULATOR: (&str, &str) = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
);

#[cfg(feature = "azblob")]
fn azure(location: &Location, setting: Setting<'_>) -> fault::Result<Operator> {
    use opendal::services::Azblob;
    let account = location.account.as_str();
    let emulated = account == EMULATOR.0;
    let connection = setting(&["AZURE_STORAGE_CONNECTION_STRING"]).map(|text| Connection::of(&text));
    let connection = connection.filter(|found| found.account.as_deref().is_none_or(|name| name == account));
    let connection = connection.unwrap_or_default();
    let endpoint = connection.endpoint.or_else(|| setting(&["AZURE_STORAGE_BLOB_ENDPOINT"]));
    let endpoint = endpoint.unwrap_or_else(|| {
        if emulated {
            return format!("http://127.0.0.1:10000/{account}");
        }
        let suffix = connection.suffix.unwrap_or_else(|| "core.windows.net".to_owned());
        format!("https://{account}.blob.{suffix}")
    });
    let mut builder = Azblob::default()
        .root(&location.prefix)
        .container(&location.bucket)
        .account_name(account)
        .endpoint(&endpoint);
    let key = connection.key.or_else(|| setting(&["AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"]));
    if let Some(key) = key.or_else(|| emulated.then(|| EMULATOR.1.to_owned())) {
        builder = builder.account_key(&key);
    }
    if let Some(token) = connection.token.or_else(|| setting(&["AZURE_STORAGE_SAS_TOKEN"])) {
        builder = builder.sas_token(token.trim_start_matches('?'));
    }
    opened(location, Operator::new(builder))
}

#[cfg(not(feature = "azblob"))]
fn azure(location: &Location, _setting: Setting<'_>) -> fault::Result<Operator> {
    Err(left_out(location))
}

/// What a connection string says.
#[cfg(feature = "azblob")]
#[derive(Default)]
struct Connection {
    account: Option<String>,
    key: Option<String>,
    token: Option<String>,
    endpoint: Option<String>,
    suffix: Option<String>,
}

#[cfg(feature = "azblob")]
impl Connection {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        for (name, value) in text.split(';').filter_map(|pair| pair.split_once('=')) {
            let value = Some(value.trim().to_owned());
            match name.trim() {
                "AccountName" => found.account = value,
                "AccountKey" => found.key = value,
                "SharedAccessSignature" => found.token = value,
                "BlobEndpoint" => found.endpoint = value,
                "EndpointSuffix" => found.suffix = value,
                _ => {}
            }
        }
        found
    }
}

#[cfg(feature = "gcs")]
fn google(location: &Location, setting: Setting<'_>) -> fault::Result<Operator> {
    use opendal::services::Gcs;
    let mut builder = Gcs::default().root(&location.prefix).bucket(&location.bucket);
    if let Some(host) = setting(&["STORAGE_EMULATOR_HOST"]) {
        let endpoint = if host.contains("://") { host } else { format!("http://{host}") };
        builder = builder.endpoint(endpoint.trim_end_matches('/')).skip_signature();
    }
    opened(location, Operator::new(builder))
}

#[cfg(not(feature = "gcs"))]
fn google(location: &Location, _setting: Setting<'_>) -> fault::Result<Operator> {
    Err(left_out(location))
}

#[cfg(feature = "swift")]
fn swift(location: &Location, setting: Setting<'_>) -> fault::Result<Operator> {
    use opendal::services::Swift;
    let (url, token) = (setting(&["OS_STORAGE_URL"]), setting(&["OS_AUTH_TOKEN"]));
    let (Some(url), Some(token)) = (url, token) else {
        let text = format!("cannot open `{location}`: OS_STORAGE_URL or OS_AUTH_TOKEN is not set");
        return Err(Fault::new(Kind::Usage, text).hint("`eval $(swift auth)` sets both"));
    };
    let builder = Swift::default().root(&location.prefix).container(&location.bucket);
    opened(location, Operator::new(builder.endpoint(&url).token(&token)))
}

#[cfg(not(feature = "swift"))]
fn swift(location: &Location, _setting: Setting<'_>) -> fault::Result<Operator> {
    Err(left_out(location))
}

#[cfg(feature = "webhdfs")]
fn hdfs(location: &Location, setting: Setting<'_>) -> fault::Result<Operator> {
    use opendal::services::Webhdfs;
    let host = &location.account;
    let endpoint = if host.contains(':') { format!("http://{host}") } else { format!("http://{host}:9870") };
    let mut builder = Webhdfs::default()
        .root(&format!("/{}", location.prefix))
        .endpoint(&endpoint)
        .atomic_write_dir("/.forebay-parts/");
    if let Some(user) = setting(&["HADOOP_USER_NAME"]) {
        builder = builder.user_name(&user);
    }
    opened(location, Operator::new(builder))
}

#[cfg(not(feature = "webhdfs"))]
fn hdfs(location: &Location, _setting: Setting<'_>) -> fault::Result<Operator> {
    Err(left_out(location))
}
