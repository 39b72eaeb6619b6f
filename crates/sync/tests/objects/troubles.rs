//! Busy servers, cut connections, objects that change while they are read.

use std::path::Path;

use testkit::servers::{self, Proxy, Trouble};

use crate::job::{Place, assert_equal};

fn tree(root: &Path) {
    for number in 0..30u32 {
        let dir = root.join(format!("d{}", number % 5));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("f{number}")), vec![number as u8; 5000]).unwrap();
    }
    std::fs::write(root.join("large"), (0..20_000_000u32).map(|at| (at / 7) as u8).collect::<Vec<_>>())
        .unwrap();
}

#[test]
fn a_store_in_trouble_is_synced_all_the_same() {
    let Some(server) = servers::s3("a sync in trouble") else { return };
    let troubles = [Trouble::Busy, Trouble::Broken, Trouble::Cut, Trouble::Dropped, Trouble::Unheard];
    let proxy = Proxy::new(server.address(), move |number, _| {
        (number % 4 == 1).then(|| troubles[(number / 4) as usize % troubles.len()])
    });
    let place = Place::new(&server).with_variables(server.variables_through(&proxy));
    let (source, back) = (place.path("source"), place.path("back"));
    tree(&source);
    place.run_well(&place.order(&source, &place.location("p")));
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
    assert!(proxy.troubles() > 20, "{}", proxy.troubles());
}

#[test]
fn a_store_that_is_gone_fails_what_it_should_and_goes_on_later() {
    let Some(server) = servers::s3("a store that goes") else { return };
    // From some request on, objects with an odd name can't be written.
    let proxy = Proxy::new(server.address(), |_, line| {
        (line.contains("f7") && line.starts_with("PUT")).then_some(Trouble::Broken)
    });
    let place = Place::new(&server).with_variables(server.variables_through(&proxy));
    let (source, back) = (place.path("source"), place.path("back"));
    tree(&source);
    let up = place.order(&source, &place.location("p"));
    let report = place.run(&up);
    assert_eq!(report.record["state"], "partial", "{report:#?}");
    assert_eq!(report.entries("failed"), 1);
    assert!(report.told.iter().any(|line| line.contains("d2/f7")), "{report:#?}");
    let place = place.with_variables(server.variables.clone());
    assert_eq!(place.run_well(&up).entries("copied"), 1);
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&source, &back);
}

#[test]
fn an_object_that_changes_while_it_is_read_is_never_torn() {
    let Some(server) = servers::s3("an object that changes") else { return };
    let place = Place::new(&server);
    let (one, two, back) = (place.path("one"), place.path("two"), place.path("back"));
    let content = |byte: u8| vec![byte; 40 << 20];
    for (dir, byte) in [(&one, 1), (&two, 2)] {
        std::fs::create_dir(dir).unwrap();
        std::fs::write(dir.join("large"), content(byte)).unwrap();
    }
    let writers = [place.order(&one, &place.location("p")), place.order(&two, &place.location("p"))];
    place.run_well(&writers[0]);
    let down = place.order(&place.location("p"), &back);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 1;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let writer = &writers[number % 2];
                let _ = std::fs::remove_dir_all(&writer.state);
                place.run(writer);
                number += 1;
            }
        });
        for _ in 0..6 {
            let report = place.run(&down);
            let state = report.record["state"].as_str().unwrap_or_default().to_owned();
            assert!(state == "complete" || report.entries("unstable") == 1, "{report:#?}");
            if back.join("large").exists() {
                let found = std::fs::read(back.join("large")).unwrap();
                assert!(found == content(1) || found == content(2), "it is torn");
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    place.run_well(&down);
}
