use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn generator(compressible: f64, duplicate: f64, pattern: Pattern) -> Generator {
    let data = Data {
        pattern,
        compressible: Ratio::new(compressible),
        duplicate: Ratio::new(duplicate),
        ..Data::default()
    };
    Generator::new(data, 42)
}

fn filled(generator: &Generator, file: u64, offset: u64, length: usize) -> Vec<u8> {
    let mut buffer = vec![0xAA; length];
    generator.fill(file, offset, &mut buffer);
    buffer
}

#[test]
fn every_eight_bytes_are_unique_within_and_between_files() {
    let generator = generator(0.0, 0.0, Pattern::Unique);
    let mut seen = HashSet::new();
    for file in 0..4 {
        for word in filled(&generator, file, 0, 1 << 20).chunks(8) {
            assert!(seen.insert(word.to_vec()), "a word of file {file} came twice");
        }
    }
}

#[test]
fn every_byte_value_is_about_as_frequent_as_the_others() {
    let mut counts = [0u32; 256];
    for byte in filled(&generator(0.0, 0.0, Pattern::Unique), 7, 0, 1 << 20) {
        counts[usize::from(byte)] += 1;
    }
    // 4096 expected, standard deviation 64: eight of those is out of reach of chance.
    assert!(counts.iter().all(|count| (3584..4608).contains(count)), "{counts:?}");
}

#[test]
fn all_instruction_sets_agree() {
    let mut reference = vec![0; 1003];
    fill_words(Instructions::Baseline, &mut reference, 5, 17);
    let mut widest = vec![0; 1003];
    fill_words(Instructions::detect(), &mut widest, 5, 17);
    assert_eq!(reference, widest);
}

#[test]
fn the_dials_do_what_they_say() {
    let blocks = 4096;
    let data = filled(&generator(0.25, 0.0, Pattern::Unique), 1, 0, blocks * BLOCK);
    let zeros = data.iter().map(|b| f64::from(u8::from(*b == 0))).sum::<f64>() / data.len() as f64;
    assert!((zeros - 0.25).abs() < 0.01, "{zeros}");

    let data = filled(&generator(0.0, 0.5, Pattern::Unique), 1, 0, blocks * BLOCK);
    let distinct: HashSet<&[u8]> = data.chunks(BLOCK).collect();
    let expected = blocks as f64 * 0.5 + DUPLICATE_POOL as f64;
    assert!((distinct.len() as f64 - expected).abs() < 0.05 * blocks as f64, "{}", distinct.len());

    assert!(filled(&generator(0.0, 0.0, Pattern::Zeros), 1, 0, 9000).iter().all(|b| *b == 0));
    let repeated = filled(&generator(0.0, 0.0, Pattern::Repeated), 1, 0, 8 * BLOCK);
    assert_eq!(repeated.chunks(BLOCK).collect::<HashSet<_>>().len(), 1);
}

#[test]
fn one_flipped_bit_is_found_where_it_is() {
    let generator = generator(0.0, 0.0, Pattern::Unique);
    let mut data = filled(&generator, 3, 47_008, 47_008);
    let mut scratch = vec![0; 47_008];
    assert_eq!(generator.verify(3, 47_008, &data, &mut scratch), Ok(()));
    data[1000] ^= 4;
    let mismatch = generator.verify(3, 47_008, &data, &mut scratch).unwrap_err();
    assert_eq!((mismatch.offset, mismatch.words), (47_008 + 1000, 1));
    // Data of another file, or of another place, does not verify.
    assert!(generator.verify(4, 47_008, &filled(&generator, 3, 47_008, 64), &mut scratch).is_err());
    assert!(generator.verify(3, 47_016, &filled(&generator, 3, 47_008, 64), &mut scratch).is_err());
}

proptest! {
    #[test]
    fn any_piece_equals_the_same_piece_of_the_whole(
        offset in 0usize..20_000, length in 0usize..9000, compressible in 0.0f64..1.0, duplicate in 0.0f64..1.0,
    ) {
        let generator = generator(compressible, duplicate, Pattern::Unique);
        let whole = filled(&generator, 9, 0, 30_000);
        let piece = filled(&generator, 9, offset as u64, length);
        prop_assert_eq!(&piece[..], &whole[offset..offset + length]);
    }
}
