;; The inner loops of Snappy; `snappy.ts` tells the format and the search. Made to bytes by `scripts/assemble_kernel.ts`.
;;
;; Nothing here knows how large the memory is: callers leave 16 bytes free behind all that is read and written, since
;; spans are copied in steps of 16. A loop over single elements is 4 times as fast here as in compiled JavaScript.
(module
  (memory (export "memory") 32)

  ;; Decompresses the elements from $in to $inEnd into the memory from $out to $outEnd, which they must fill.
  ;; Returns 0, or what is wrong: 1 the output is not full, 2 a literal is out of bounds, 3 a copy is.
  (func $decompress (export "decompress")
    (param $in i32) (param $inEnd i32) (param $out i32) (param $outEnd i32) (result i32)
    (local $outStart i32) (local $tag i32) (local $offset i32) (local $from i32) (local $stop i32)
    ;; The length of an element, less 1.
    (local $last i32)
    (local.set $outStart (local.get $out))
    (loop $elements
      (if (i32.ge_u (local.get $in) (local.get $inEnd))
        (then (return (i32.ne (local.get $out) (local.get $outEnd)))))
      (local.set $tag (i32.load8_u (local.get $in)))
      (local.set $in (i32.add (local.get $in) (i32.const 1)))
      (local.set $last (i32.shr_u (local.get $tag) (i32.const 2)))

      (if (i32.eqz (i32.and (local.get $tag) (i32.const 3)))
        (then
          (if (i32.ge_u (local.get $last) (i32.const 60))
            (then
              ;; So many bytes of length follow; a load of 4 is cut to them.
              (local.set $offset (i32.sub (local.get $last) (i32.const 59)))
              (local.set $last
                (i32.and
                  (i32.load (local.get $in))
                  (i32.shr_u
                    (i32.const -1)
                    (i32.shl (i32.sub (i32.const 4) (local.get $offset)) (i32.const 3)))))
              (local.set $in (i32.add (local.get $in) (local.get $offset)))
              (if (i32.gt_u (local.get $in) (local.get $inEnd)) (then (return (i32.const 2))))))
          (if (i32.ge_u (local.get $last) (i32.sub (local.get $inEnd) (local.get $in)))
            (then (return (i32.const 2))))
          (if (i32.ge_u (local.get $last) (i32.sub (local.get $outEnd) (local.get $out)))
            (then (return (i32.const 2))))
          (local.set $from (local.get $in))
          (local.set $stop (i32.add (i32.add (local.get $out) (local.get $last)) (i32.const 1)))
          (local.set $in (i32.add (i32.add (local.get $in) (local.get $last)) (i32.const 1)))
          (loop $steps
            (i64.store (local.get $out) (i64.load (local.get $from)))
            (i64.store offset=8 (local.get $out) (i64.load offset=8 (local.get $from)))
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $out (i32.add (local.get $out) (i32.const 16)))
            (br_if $steps (i32.lt_u (local.get $out) (local.get $stop))))
          (local.set $out (local.get $stop))
          (br $elements)))

      (if (i32.eq (i32.and (local.get $tag) (i32.const 3)) (i32.const 1))
        (then
          (local.set $last (i32.add (i32.and (local.get $last) (i32.const 7)) (i32.const 3)))
          (local.set $offset
            (i32.or
              (i32.shl (i32.shr_u (local.get $tag) (i32.const 5)) (i32.const 8))
              (i32.load8_u (local.get $in))))
          (local.set $in (i32.add (local.get $in) (i32.const 1))))
        (else
          (if (i32.eq (i32.and (local.get $tag) (i32.const 3)) (i32.const 2))
            (then
              (local.set $offset (i32.load16_u (local.get $in)))
              (local.set $in (i32.add (local.get $in) (i32.const 2))))
            (else
              (local.set $offset (i32.load (local.get $in)))
              (local.set $in (i32.add (local.get $in) (i32.const 4)))))))
      (if (i32.gt_u (local.get $in) (local.get $inEnd)) (then (return (i32.const 3))))
      ;; An offset of 0 becomes the largest number.
      (if (i32.ge_u
            (i32.sub (local.get $offset) (i32.const 1))
            (i32.sub (local.get $out) (local.get $outStart)))
        (then (return (i32.const 3))))
      (if (i32.ge_u (local.get $last) (i32.sub (local.get $outEnd) (local.get $out)))
        (then (return (i32.const 3))))
      (local.set $from (i32.sub (local.get $out) (local.get $offset)))
      (local.set $stop (i32.add (i32.add (local.get $out) (local.get $last)) (i32.const 1)))
      (if (i32.ge_u (local.get $offset) (i32.const 8))
        (then
          ;; The second half of a step may need what the first one wrote.
          (loop $steps
            (i64.store (local.get $out) (i64.load (local.get $from)))
            (i64.store offset=8 (local.get $out) (i64.load offset=8 (local.get $from)))
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $out (i32.add (local.get $out) (i32.const 16)))
            (br_if $steps (i32.lt_u (local.get $out) (local.get $stop)))))
        (else
          (loop $bytes
            (i32.store8 (local.get $out) (i32.load8_u (local.get $from)))
            (local.set $from (i32.add (local.get $from) (i32.const 1)))
            (local.set $out (i32.add (local.get $out) (i32.const 1)))
            (br_if $bytes (i32.lt_u (local.get $out) (local.get $stop))))))
      (local.set $out (local.get $stop))
      (br $elements))
    (unreachable))

  ;; Compresses the fragment from $start to $end to $out; returns where its elements end. The hash table lies at 0 and
  ;; has 2^$tableBits slots of 2 bytes. The search is the one of `compressFragment` in `snappy.ts`, byte for byte.
  (func $compress (export "compress")
    (param $start i32) (param $end i32) (param $out i32) (param $tableBits i32) (result i32)
    (local $limit i32) (local $shift i32) (local $at i32) (local $stride i32) (local $literalStart i32)
    (local $word i32) (local $slot i32) (local $candidate i32) (local $from i32) (local $matchEnd i32)
    (local $difference i64)
    (memory.fill (i32.const 0) (i32.const 0) (i32.shl (i32.const 2) (local.get $tableBits)))
    (local.set $shift (i32.sub (i32.const 32) (local.get $tableBits)))
    (local.set $limit (i32.sub (local.get $end) (i32.const 15)))
    (local.set $literalStart (local.get $start))
    (local.set $at (i32.add (local.get $start) (i32.const 1)))
    (local.set $stride (i32.const 32))
    (block $searched
      (loop $search
        (br_if $searched (i32.ge_s (local.get $at) (local.get $limit)))
        (local.set $word (i32.load (local.get $at)))
        (local.set $slot
          (i32.shl
            (i32.shr_u (i32.mul (local.get $word) (i32.const 0x1e35a7bd)) (local.get $shift))
            (i32.const 1)))
        (local.set $candidate (i32.add (local.get $start) (i32.load16_u (local.get $slot))))
        (i32.store16 (local.get $slot) (i32.sub (local.get $at) (local.get $start)))
        (if (i32.ne (i32.load (local.get $candidate)) (local.get $word))
          (then
            (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $stride) (i32.const 5))))
            (local.set $stride (i32.add (local.get $stride) (i32.const 1)))
            (br $search)))

        (local.set $from (i32.add (local.get $candidate) (i32.const 4)))
        (local.set $matchEnd (i32.add (local.get $at) (i32.const 4)))
        (block $matched
          (loop $words
            (if (i32.le_u (i32.add (local.get $matchEnd) (i32.const 8)) (local.get $end))
              (then
                (local.set $difference
                  (i64.xor (i64.load (local.get $from)) (i64.load (local.get $matchEnd))))
                (if (i64.eqz (local.get $difference))
                  (then
                    (local.set $from (i32.add (local.get $from) (i32.const 8)))
                    (local.set $matchEnd (i32.add (local.get $matchEnd) (i32.const 8)))
                    (br $words)))
                (local.set $matchEnd
                  (i32.add
                    (local.get $matchEnd)
                    (i32.wrap_i64 (i64.shr_u (i64.ctz (local.get $difference)) (i64.const 3)))))
                (br $matched))))
          (loop $bytes
            (br_if $matched (i32.ge_u (local.get $matchEnd) (local.get $end)))
            (br_if $matched
              (i32.ne (i32.load8_u (local.get $from)) (i32.load8_u (local.get $matchEnd))))
            (local.set $from (i32.add (local.get $from) (i32.const 1)))
            (local.set $matchEnd (i32.add (local.get $matchEnd) (i32.const 1)))
            (br $bytes)))

        (if (i32.lt_u (local.get $literalStart) (local.get $at))
          (then
            (local.set $out
              (call $literal (local.get $literalStart) (local.get $at) (local.get $out)))))
        (local.set $out
          (call $copy
            (i32.sub (local.get $at) (local.get $candidate))
            (i32.sub (local.get $matchEnd) (local.get $at))
            (local.get $out)))
        (local.set $at (local.get $matchEnd))
        (local.set $literalStart (local.get $matchEnd))
        (local.set $stride (i32.const 32))
        (if (i32.lt_s (local.get $at) (local.get $limit))
          (then
            (i32.store16
              (i32.shl
                (i32.shr_u
                  (i32.mul (i32.load (i32.sub (local.get $at) (i32.const 1))) (i32.const 0x1e35a7bd))
                  (local.get $shift))
                (i32.const 1))
              (i32.sub (i32.sub (local.get $at) (i32.const 1)) (local.get $start)))))
        (br $search)))
    (if (i32.lt_u (local.get $literalStart) (local.get $end))
      (then
        (local.set $out (call $literal (local.get $literalStart) (local.get $end) (local.get $out)))))
    (local.get $out))

  ;; Writes a literal; returns where it ends.
  (func $literal (param $from i32) (param $to i32) (param $out i32) (result i32)
    (local $last i32) (local $stop i32)
    (local.set $last (i32.sub (i32.sub (local.get $to) (local.get $from)) (i32.const 1)))
    (if (i32.lt_u (local.get $last) (i32.const 60))
      (then
        (i32.store8 (local.get $out) (i32.shl (local.get $last) (i32.const 2)))
        (local.set $out (i32.add (local.get $out) (i32.const 1))))
      (else
        (if (i32.lt_u (local.get $last) (i32.const 256))
          (then
            (i32.store8 (local.get $out) (i32.const 240))
            (i32.store8 offset=1 (local.get $out) (local.get $last))
            (local.set $out (i32.add (local.get $out) (i32.const 2))))
          (else
            (i32.store8 (local.get $out) (i32.const 244))
            (i32.store16 offset=1 (local.get $out) (local.get $last))
            (local.set $out (i32.add (local.get $out) (i32.const 3)))))))
    (local.set $stop (i32.add (i32.add (local.get $out) (local.get $last)) (i32.const 1)))
    (loop $steps
      (i64.store (local.get $out) (i64.load (local.get $from)))
      (i64.store offset=8 (local.get $out) (i64.load offset=8 (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (br_if $steps (i32.lt_u (local.get $out) (local.get $stop))))
    (local.get $stop))

  ;; Writes a copy, in as many elements as it takes; returns where they end.
  (func $copy (param $offset i32) (param $length i32) (param $out i32) (result i32)
    (loop $long
      (if (i32.ge_u (local.get $length) (i32.const 68))
        (then
          (i32.store8 (local.get $out) (i32.const 254))
          (i32.store16 offset=1 (local.get $out) (local.get $offset))
          (local.set $out (i32.add (local.get $out) (i32.const 3)))
          (local.set $length (i32.sub (local.get $length) (i32.const 64)))
          (br $long))))
    (if (i32.gt_u (local.get $length) (i32.const 64))
      (then
        (i32.store8 (local.get $out) (i32.const 238))
        (i32.store16 offset=1 (local.get $out) (local.get $offset))
        (local.set $out (i32.add (local.get $out) (i32.const 3)))
        (local.set $length (i32.sub (local.get $length) (i32.const 60)))))
    (if (i32.or
          (i32.ge_u (local.get $length) (i32.const 12))
          (i32.ge_u (local.get $offset) (i32.const 2048)))
      (then
        (i32.store8 (local.get $out)
          (i32.or (i32.shl (i32.sub (local.get $length) (i32.const 1)) (i32.const 2)) (i32.const 2)))
        (i32.store16 offset=1 (local.get $out) (local.get $offset))
        (return (i32.add (local.get $out) (i32.const 3)))))
    (i32.store8 (local.get $out)
      (i32.or
        (i32.or
          (i32.shl (i32.shr_u (local.get $offset) (i32.const 8)) (i32.const 5))
          (i32.shl (i32.sub (local.get $length) (i32.const 4)) (i32.const 2)))
        (i32.const 1)))
    (i32.store8 offset=1 (local.get $out) (local.get $offset))
    (i32.add (local.get $out) (i32.const 2))))
