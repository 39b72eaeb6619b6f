//! What a job is between: both sides opened, and what can't be refused before anything is done.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fault::{Fault, Kind as FaultKind};
use store::Root;
use store::objects::Location;

use super::side::{Elsewhere, Place, Side, elsewhere, is_elsewhere, is_on_host};
use crate::chunked;
use crate::far::Role;
use crate::options::{Conflict, Options};
use crate::roots::canonical;
use crate::roots::open_beneath;
use crate::state::{Identity, State};

/// What only chunk stores can is refused where no side can be one.
pub fn check_layout(options: &Options) -> fault::Result<()> {
    let is_store = |path: &Path| is_elsewhere(path) && !is_on_host(path);
    let (from, to) = (is_store(&options.source), is_store(&options.destination));
    let asked = [
        ("--layout", options.layout.is_some() && !from && !to),
        ("--prune", options.prune.is_some() && !to),
        ("--manifest", options.manifest.is_some() && !from),
    ];
    match asked.into_iter().find(|(_, wrong)| *wrong) {
        None => Ok(()),
        Some((flag, _)) => {
            Err(Fault::new(FaultKind::Usage, format!("{flag} needs a place in an object store"))
                .hint("such as s3://bucket/prefix; --prune is of a destination, --manifest of a source"))
        }
    }
}

/// What object stores can't do is refused before anything is done.
pub fn check_options(options: &Options) -> fault::Result<()> {
    let refused = |what: &str, hint: &str| Err(Fault::new(FaultKind::Unsupported, what).hint(hint));
    if options.conflict != Conflict::Source {
        return refused(
            "--conflict needs a tree of this host on both sides",
            "elsewhere nothing says what a sync left there: use --update, or a destination of its own",
        );
    }
    let has_trash = !is_elsewhere(&options.destination) || is_on_host(&options.destination);
    if options.delete.as_ref().is_some_and(|rules| rules.trash) && !has_trash {
        return refused(
            "object stores have no trash",
            "turn on the bucket's versioning, or delete without --trash",
        );
    }
    Ok(())
}

/// What the state of a job knows a side by.
pub fn named(path: &Path) -> fault::Result<PathBuf> {
    elsewhere(path)?.map_or_else(|| canonical(path), |place| Ok(place.as_path()))
}

/// The same of the destination. A directory of this host that is not there is made.
pub fn destination_path(options: &Options) -> fault::Result<PathBuf> {
    let path = &options.destination;
    if !is_elsewhere(path) && !path.exists() {
        if options.dry_run {
            let text = format!("`{}` is not there", path.display());
            return Err(
                Fault::new(FaultKind::NotFound, text).hint("make the directory; a dry run makes nothing")
            );
        }
        std::fs::create_dir(path).map_err(|error| Fault::os("create", path, error))?;
    }
    Ok(options.at.iter().fold(named(path)?, |path, at| path.join(at)))
}

fn open_location(
    location: &Location,
    role: chunked::Role,
    options: &Options,
    stop: &Arc<AtomicBool>,
) -> fault::Result<Side> {
    let to_is_one = matches!(elsewhere(&options.destination)?, Some(Elsewhere::Objects(_)));
    let is_meant = role == chunked::Role::Destination || !to_is_one;
    let layout = options.layout.filter(|_| is_meant);
    Ok(Side::Store(Place::open(location, (role, layout), options, stop.clone())?))
}

pub fn open_source(options: &Options, stop: &Arc<AtomicBool>) -> fault::Result<Side> {
    match elsewhere(&options.source)? {
        Some(Elsewhere::Objects(location)) => {
            let other = elsewhere(&options.destination)?;
            if let Some(Elsewhere::Objects(other)) = other
                && location.overlaps(&other)
            {
                return Err(in_each_other(&location.to_string(), &other.to_string()));
            }
            open_location(&location, chunked::Role::Source, options, stop)
        }
        Some(Elsewhere::Host(address)) => Ok(Side::Store(Place::open_far(&address, &Role::Source, options)?)),
        None => Ok(Side::Tree(Root::open(&canonical(&options.source)?)?)),
    }
}

fn in_each_other(one: &str, other: &str) -> Fault {
    Fault::new(FaultKind::Usage, format!("`{one}` and `{other}` lie in each other"))
        .hint("choose a destination outside the source")
}

pub fn open_destination(options: &Options, state: &State, stop: &Arc<AtomicBool>) -> fault::Result<Side> {
    match elsewhere(&options.destination)? {
        Some(Elsewhere::Objects(location)) => {
            open_location(&location, chunked::Role::Destination, options, stop)
        }
        Some(Elsewhere::Host(address)) => {
            let role =
                if options.dry_run { Role::Look } else { Role::Destination { drafts: state.draft_prefix() } };
            Ok(Side::Store(Place::open_far(&address, &role, options)?))
        }
        None => {
            let path = canonical(&options.destination)?;
            Ok(Side::Tree(match &options.at {
                Some(at) if options.dry_run => Root::open(&path.join(at))?,
                Some(at) => open_beneath(&path, at)?,
                None => Root::open(&path)?,
            }))
        }
    }
}

/// Two trees of one host must not lie in each other, by whatever names they are reached.
pub fn check_overlap(source: &Side, destination: &Side) -> fault::Result<()> {
    let opened = |side: &Side| match side {
        Side::Tree(root) => crate::far::opened(root).map(Some),
        Side::Store(place) => Ok(place.far.as_ref().map(|far| far.opened.clone())),
    };
    let (Some(from), Some(to)) = (opened(source)?, opened(destination)?) else { return Ok(()) };
    if from.overlaps(&to) {
        return Err(in_each_other(&source.shown(), &destination.shown()));
    }
    Ok(())
}

pub fn check_place_of_state(state: &State, tree: &Path) -> fault::Result<()> {
    let dir = canonical(state.dir())?;
    if tree.is_absolute() && dir.starts_with(tree) {
        let text = format!("the state directory `{}` lies inside a tree that is synced", dir.display());
        return Err(Fault::new(FaultKind::Usage, text).hint("choose another with --state"));
    }
    Ok(())
}

pub fn identity(side: &Side) -> fault::Result<Identity> {
    match side {
        Side::Tree(root) => Identity::of(root),
        Side::Store(Place { far: Some(far), .. }) => Ok(Identity::of_numbers(far.opened.identity)),
        Side::Store(place) => Ok(Identity::of_name(&place.name)),
    }
}
