//! What must hold of every plan.

use plan::{Design, Family, Part, Place, document, evaluate, search};
use proptest::prelude::*;
use spec::{Cloud, Durability, Figures, Role, Storage};
use units::{Bandwidth, Bytes, Money, Ratio};

use crate::ground::{EMBEDDED, options, sas_azure, spec};

fn data_cost(evaluation: &plan::Evaluation) -> f64 {
    let lines = evaluation.storages[0].costs.iter();
    let data = lines.filter(|line| matches!(line.part, Part::Servers | Part::Disks));
    data.map(|line| line.per_month.unwrap().get()).sum()
}

#[test]
fn the_sas_grid_on_azure_costs_no_more_than_the_best_known() {
    let plan = search(&EMBEDDED, &sas_azure(), &options()).unwrap();
    let best = &plan.ranked[0];
    assert_eq!(best.families(), [Family::LustreOnVms]);
    assert!(data_cost(best) <= 18_758.0, "{}", data_cost(best));
    assert!(best.storages[0].delivered.write >= Bandwidth::mb_per_second(9216.0));
    assert!(best.storages[0].capacity >= Bytes::tib(384));
}

#[test]
fn the_same_question_gives_the_same_answer() {
    let once = || document(&search(&EMBEDDED, &sas_azure(), &options()).unwrap(), &options()).unwrap();
    assert_eq!(serde_json::to_string(&once()).unwrap(), serde_json::to_string(&once()).unwrap());
}

#[test]
fn a_missing_price_is_never_zero() {
    let plan = search(&EMBEDDED, &sas_azure(), &options()).unwrap();
    assert!(!plan.prices_unknown.is_empty());
    assert!(plan.prices_unknown.iter().all(|design| design.per_month().is_none()));
    assert!(plan.ranked.iter().all(|design| design.per_month().unwrap() > Money::ZERO));
}

#[test]
fn several_storages_are_planned_together() {
    let mut wanted = spec(Cloud::Azure, 48, Bytes::tib(100), Bandwidth::mb_per_second(7200.0));
    let mut work = Storage::new("work", Role::Work);
    work.capacity = Some(Bytes::tib(20));
    wanted.storage.push(work);
    let plan = search(&EMBEDDED, &wanted, &options()).unwrap();
    let best = &plan.ranked[0];
    assert_eq!(best.storages.len(), 2);
    assert!(best.holds());
    let network = |storage: &plan::StorageEvaluation| {
        storage
            .limits
            .iter()
            .find(|limit| limit.place == Place::ClientNetwork)
            .map(|limit| limit.stated.write)
    };
    // What both write at once fits the clients' network where both pass it.
    if let [Some(data), Some(_)] = [network(&best.storages[0]), network(&best.storages[1])] {
        let written: f64 = best
            .storages
            .iter()
            .map(|s| s.requirement.mixed().get() * (1.0 - s.requirement.read_share.get()))
            .sum();
        assert!(written <= data * 1.000_001);
    }
}

#[test]
fn checkpoints_follow_the_burst_law() {
    let mut wanted = sas_azure();
    let streams = search(&EMBEDDED, &wanted, &options()).unwrap();
    wanted.storage[0].checkpoint = Some(Bytes::gib(64));
    let bursts = search(&EMBEDDED, &wanted, &options()).unwrap();
    let of = |plan: &plan::Plan| {
        let lustre = plan.ranked.iter().find(|design| design.families() == [Family::LustreOnVms]).unwrap();
        (lustre.storages[0].write_law, lustre.storage_per_month().unwrap())
    };
    let ((stream, cheap), (burst, dear)) = (of(&streams), of(&bursts));
    assert_eq!((stream, burst), (plan::layout::WriteLaw::Stream, plan::layout::WriteLaw::Burst));
    // Each byte passes the network and then the disks: more of both are needed for the same rate.
    assert!(dear > cheap, "{dear} {cheap}");
}

#[test]
fn a_design_file_means_the_same_when_read_again() {
    let options = options();
    let mut wanted = spec(Cloud::Aws, 48, Bytes::tib(50), Bandwidth::mb_per_second(5000.0));
    wanted.constraints.clouds.clear();
    let plan = search(&EMBEDDED, &wanted, &options).unwrap();
    for evaluation in plan.ranked.iter().chain(&plan.limits_unknown).chain(&plan.prices_unknown) {
        let text = toml::to_string_pretty(&evaluation.design).unwrap();
        let read: Design = toml::from_str(&text).unwrap();
        assert_eq!(read, evaluation.design, "{text}");
        let again =
            evaluate(&EMBEDDED, &read, &wanted.constraints, &options.guards, &options.calibration).unwrap();
        assert_eq!(&again, evaluation);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn asking_for_more_never_costs_less(
        tib in 5u64..200,
        rate in 500.0f64..8000.0,
        more_tib in 0u64..100,
        more in 1.0f64..2.0,
        calibrated in any::<bool>(),
    ) {
        let ask = |tib, rate: f64| {
            let mut wanted = spec(Cloud::Azure, 48, Bytes::tib(tib), Bandwidth::mb_per_second(rate));
            wanted.grid.client_sku = Some("Standard_E16s_v5".to_owned());
            if calibrated {
                wanted.constraints.figures = Figures::Calibrated;
            }
            let plan = search(&EMBEDDED, &wanted, &options()).unwrap();
            plan.ranked.first().and_then(plan::Evaluation::per_month)
        };
        match (ask(tib, rate), ask(tib + more_tib, rate * more)) {
            (Some(less), Some(larger)) => prop_assert!(larger.get() >= less.get() * (1.0 - 1e-9), "{less} {larger}"),
            (None, Some(_)) => prop_assert!(false, "more is possible and less is not"),
            (_, None) => {}
        }
    }

    #[test]
    fn every_ranked_design_meets_what_was_asked(
        cloud in prop::sample::select(vec![Cloud::Azure, Cloud::Aws, Cloud::Gcp]),
        tib in 1u64..300,
        rate in 50.0f64..12_000.0,
        read_share in 0.0f64..=1.0,
        scratch in any::<bool>(),
        pcores in 1u32..200,
    ) {
        let mut wanted = spec(cloud, pcores, Bytes::tib(tib), Bandwidth::mb_per_second(rate));
        wanted.storage[0].mix = Some(Ratio::new(read_share));
        if scratch {
            wanted.storage[0].durability = Some(Durability::Scratch);
        }
        let plan = search(&EMBEDDED, &wanted, &options()).unwrap();
        for design in &plan.ranked {
            let storage = &design.storages[0];
            for operation in plan::Operation::ALL {
                let (has, needs) = (storage.delivered.of(operation), storage.needed().of(operation));
                prop_assert!(has.get() >= needs.get() * (1.0 - 1e-6), "{has} {needs} {:?}", design.design);
            }
            prop_assert!(storage.capacity >= wanted.storage[0].capacity.unwrap());
            prop_assert!(design.design.clients.count >= 1);
        }
    }
}

#[test]
fn one_more_server_lowers_no_limit() {
    let options = options();
    let plan = search(&EMBEDDED, &sas_azure(), &options).unwrap();
    let lustre = plan.ranked.iter().filter(|design| design.families() == [Family::LustreOnVms]);
    for evaluation in lustre {
        let mut larger = evaluation.design.clone();
        let plan::Layout::LustreOnVms(layout) = &mut larger.storage[0].layout else { panic!("no Lustre") };
        layout.servers += 1;
        let constraints = sas_azure().constraints;
        let then = evaluate(&EMBEDDED, &larger, &constraints, &options.guards, &options.calibration).unwrap();
        let (now, then) = (&evaluation.storages[0], &then.storages[0]);
        assert_eq!(now.limits.len(), then.limits.len());
        for (before, after) in now.limits.iter().zip(&then.limits) {
            assert_eq!(before.place, after.place);
            for operation in plan::Operation::ALL {
                let share = now.requirement.read_share;
                let (before, after) = (before.stated.of(operation, share), after.stated.of(operation, share));
                assert!(after >= before, "{before} {after} {:?}", evaluation.design);
            }
        }
    }
}

#[test]
fn a_budget_that_is_too_small_says_what_is_needed() {
    let mut wanted = sas_azure();
    wanted.constraints.monthly_budget_usd = Some(1_000);
    let plan = search(&EMBEDDED, &wanted, &options()).unwrap();
    let over = plan.over_budget.unwrap();
    assert!(plan.ranked.is_empty() && over.count > 1 && over.least > Money::usd(11_000.0), "{over:?}");
    wanted.constraints.monthly_budget_usd = Some(over.least.get().ceil() as u32);
    assert_eq!(search(&EMBEDDED, &wanted, &options()).unwrap().ranked.len(), 1);
}

#[test]
fn every_family_has_a_design_or_a_reason_in_every_region() {
    let mut wanted = sas_azure();
    wanted.constraints.regions.clear();
    wanted.constraints.clouds.clear();
    let plan = search(&EMBEDDED, &wanted, &options()).unwrap();
    for place in &plan.regions {
        for family in Family::ALL {
            let all = plan.ranked.iter().chain(&plan.limits_unknown).chain(&plan.prices_unknown);
            let has =
                all.clone().any(|design| design.design.place == *place && design.families() == [family]);
            let why = plan.refused.iter().find(|refused| refused.place == *place && refused.family == family);
            assert!(has || why.is_some_and(|why| !why.reasons.is_empty()), "{place:?} {family:?}");
        }
    }
    let why = |family| {
        let refused = plan.refused.iter().find(|refused| refused.family == family).unwrap();
        refused.reasons[0].clone()
    };
    assert!(why(Family::LocalNvme).contains("loses everything when a client stops"));
    assert!(why(Family::StripedVolumes).contains("need not be shared"));
    assert!(why(Family::SharedVolumes).contains("attach"));
}

#[test]
fn absurd_counts_in_a_design_are_evaluated_and_not_a_panic() {
    let options = options();
    let plan = search(&EMBEDDED, &sas_azure(), &options).unwrap();
    let mut design = plan.ranked[0].design.clone();
    let plan::Layout::LustreOnVms(layout) = &mut design.storage[0].layout else { panic!("no Lustre") };
    (layout.servers, layout.disks_per_server, layout.stripe_count) = (u32::MAX, u32::MAX, u32::MAX);
    design.clients.count = u32::MAX;
    let constraints = sas_azure().constraints;
    let evaluation =
        evaluate(&EMBEDDED, &design, &constraints, &options.guards, &options.calibration).unwrap();
    assert!(!evaluation.holds());
    plan::upgrade(&EMBEDDED, &evaluation, &constraints, &options).unwrap();
}
