;; Checksums of blocks, and whole data blocks taken apart or made in one call; `table_kernel.ts` tells where things lie. It is
;; assembled into one module with `snappy_kernel.wat`.
;;
;;     1024 KiB  CRC-32C: 8 tables of 1 KiB, as in `crc32c.ts`
;;     1056 KiB  how far contents, keys and rows reach
;;     1088 KiB  stored blocks
;;     1216 KiB  rows: where a key ends, where its value begins and ends; 12 bytes a record
;;     1344 KiB  keys, one behind the other
;;     1536 KiB  contents of blocks
(module
  ;; Steps a checksum over the 8 bytes at $at.
  (func $step (param $crc i32) (param $at i32) (result i32)
    (local $high i32)
    (local.set $crc (i32.xor (local.get $crc) (i32.load (local.get $at))))
    (local.set $high (i32.load offset=4 (local.get $at)))
    (i32.xor
      (i32.xor
        (i32.xor
          (i32.load offset=1055744 (i32.and (i32.shl (local.get $crc) (i32.const 2)) (i32.const 0x3fc)))
          (i32.load offset=1054720 (i32.and (i32.shr_u (local.get $crc) (i32.const 6)) (i32.const 0x3fc))))
        (i32.xor
          (i32.load offset=1053696 (i32.and (i32.shr_u (local.get $crc) (i32.const 14)) (i32.const 0x3fc)))
          (i32.load offset=1052672 (i32.and (i32.shr_u (local.get $crc) (i32.const 22)) (i32.const 0x3fc)))))
      (i32.xor
        (i32.xor
          (i32.load offset=1051648 (i32.and (i32.shl (local.get $high) (i32.const 2)) (i32.const 0x3fc)))
          (i32.load offset=1050624 (i32.and (i32.shr_u (local.get $high) (i32.const 6)) (i32.const 0x3fc))))
        (i32.xor
          (i32.load offset=1049600 (i32.and (i32.shr_u (local.get $high) (i32.const 14)) (i32.const 0x3fc)))
          (i32.load offset=1048576 (i32.and (i32.shr_u (local.get $high) (i32.const 22)) (i32.const 0x3fc)))))))

  ;; The masked CRC-32C of the bytes from $at to $end.
  (func $checksum (export "checksum") (param $at i32) (param $end i32) (result i32)
    (local $crc i32)
    (local.set $crc (i32.const -1))
    (block $stepsDone
      (loop $steps
        (br_if $stepsDone (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 8)))
        (local.set $crc (call $step (local.get $crc) (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $steps)))
    (block $done
      (loop $bytes
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $crc
          (i32.xor
            (i32.shr_u (local.get $crc) (i32.const 8))
            (i32.load offset=1048576
              (i32.shl
                (i32.and (i32.xor (local.get $crc) (i32.load8_u (local.get $at))) (i32.const 0xff))
                (i32.const 2)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $bytes)))
    (i32.add
      (i32.rotl (i32.xor (local.get $crc) (i32.const -1)) (i32.const 17))
      (i32.const 0xa282ead8)))

  ;; A varint of at most 3 bytes: their number in the top byte, its value below; with more bytes a number above 0x3ffffff.
  (func $varint (param $at i32) (result i32)
    (local $word i32)
    (local.set $word (i32.load (local.get $at)))
    (if (i32.eqz (i32.and (local.get $word) (i32.const 0x80)))
      (then (return (i32.or (i32.const 0x1000000) (i32.and (local.get $word) (i32.const 0x7f))))))
    (if (i32.eqz (i32.and (local.get $word) (i32.const 0x8000)))
      (then
        (return
          (i32.or
            (i32.or (i32.const 0x2000000) (i32.and (local.get $word) (i32.const 0x7f)))
            (i32.and (i32.shr_u (local.get $word) (i32.const 1)) (i32.const 0x3f80))))))
    (if (i32.eqz (i32.and (local.get $word) (i32.const 0x800000)))
      (then
        (return
          (i32.or
            (i32.or
              (i32.or (i32.const 0x3000000) (i32.and (local.get $word) (i32.const 0x7f)))
              (i32.and (i32.shr_u (local.get $word) (i32.const 1)) (i32.const 0x3f80)))
            (i32.and (i32.shr_u (local.get $word) (i32.const 2)) (i32.const 0x1fc000))))))
    (i32.const -1))

  ;; Takes the stored data block at $stored apart, which has $length bytes without its type and checksum: its content,
  ;; keys and rows go behind those that are there. Returns how many records it has, or -1, having added nothing, when
  ;; it is damaged, unusual, or too large for what room is left: then somebody else looks at it.
  (func $open (export "open") (param $stored i32) (param $length i32) (result i32)
    (local $content i32) (local $contentEnd i32) (local $type i32) (local $size i32) (local $end i32)
    (local $at i32) (local $shared i32) (local $rest i32) (local $value i32)
    (local $lastKey i32) (local $lastLength i32) (local $key i32) (local $keyLength i32)
    (local $row i32) (local $i i32) (local $common i32) (local $from i32)
    (local.set $end (i32.add (i32.add (local.get $stored) (local.get $length)) (i32.const 1)))
    (if (i32.ne (call $checksum (local.get $stored) (local.get $end)) (i32.load (local.get $end)))
      (then (return (i32.const -1))))

    (local.set $content (i32.load offset=1081344 (i32.const 0)))
    (local.set $type (i32.load8_u (i32.sub (local.get $end) (i32.const 1))))
    (local.set $size (local.get $length))
    (if (local.get $type)
      (then
        (if (i32.ne (local.get $type) (i32.const 1)) (then (return (i32.const -1))))
        (local.set $size (call $varint (local.get $stored)))
        (if (i32.gt_u (local.get $size) (i32.const 0x3ffffff)) (then (return (i32.const -1))))
        (local.set $at (i32.add (local.get $stored) (i32.shr_u (local.get $size) (i32.const 24))))
        (local.set $size (i32.and (local.get $size) (i32.const 0xffffff)))))
    (local.set $contentEnd (i32.add (local.get $content) (local.get $size)))
    (if (i32.gt_u (local.get $contentEnd) (i32.const 2031616)) (then (return (i32.const -1))))
    (if (local.get $type)
      (then
        (if (call $decompress
              (local.get $at)
              (i32.sub (local.get $end) (i32.const 1))
              (local.get $content)
              (local.get $contentEnd))
          (then (return (i32.const -1)))))
      (else (memory.copy (local.get $content) (local.get $stored) (local.get $length))))

    (if (i32.lt_u (local.get $size) (i32.const 8)) (then (return (i32.const -1))))
    ;; The number of restart points, which stand in front of it.
    (local.set $i (i32.load (i32.sub (local.get $contentEnd) (i32.const 4))))
    (if (i32.eqz (local.get $i)) (then (return (i32.const -1))))
    (if (i32.ge_u (local.get $i) (i32.shr_u (local.get $size) (i32.const 2))) (then (return (i32.const -1))))
    (local.set $end
      (i32.sub (local.get $contentEnd) (i32.shl (i32.add (local.get $i) (i32.const 1)) (i32.const 2))))
    (if (i32.load (local.get $end)) (then (return (i32.const -1))))

    (local.set $at (local.get $content))
    (local.set $key (i32.load offset=1081348 (i32.const 0)))
    (local.set $row (i32.load offset=1081352 (i32.const 0)))
    (local.set $lastLength (i32.const -1))
    (block $done
      (loop $entries
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $shared (call $varint (local.get $at)))
        (if (i32.gt_u (local.get $shared) (i32.const 0x3ffffff)) (then (return (i32.const -1))))
        (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $shared) (i32.const 24))))
        (local.set $rest (call $varint (local.get $at)))
        (if (i32.gt_u (local.get $rest) (i32.const 0x3ffffff)) (then (return (i32.const -1))))
        (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $rest) (i32.const 24))))
        (local.set $value (call $varint (local.get $at)))
        (if (i32.gt_u (local.get $value) (i32.const 0x3ffffff)) (then (return (i32.const -1))))
        (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $value) (i32.const 24))))
        (local.set $shared (i32.and (local.get $shared) (i32.const 0xffffff)))
        (local.set $rest (i32.and (local.get $rest) (i32.const 0xffffff)))
        (local.set $value (i32.and (local.get $value) (i32.const 0xffffff)))

        ;; Keys that share with the last one's trailer are legal, and rare.
        (if (i32.gt_s (local.get $shared) (local.get $lastLength))
          (then (if (local.get $shared) (then (return (i32.const -1))))))
        (if (i32.lt_u (local.get $rest) (i32.const 8)) (then (return (i32.const -1))))
        (if (i32.gt_s
              (i32.add (local.get $rest) (local.get $value))
              (i32.sub (local.get $end) (local.get $at)))
          (then (return (i32.const -1))))
        (local.set $rest (i32.sub (local.get $rest) (i32.const 8)))
        (local.set $keyLength (i32.add (local.get $shared) (local.get $rest)))
        (if (i32.gt_u (local.get $keyLength) (i32.const 0x10000)) (then (return (i32.const -1))))
        (if (i32.gt_u (i32.add (local.get $key) (local.get $keyLength)) (i32.const 1572832))
          (then (return (i32.const -1))))
        (if (i32.ge_u (local.get $row) (i32.const 1376240)) (then (return (i32.const -1))))
        ;; A plain record's trailer: kind 1, sequence 0.
        (if (i64.ne (i64.load (i32.add (local.get $at) (local.get $rest))) (i64.const 1))
          (then (return (i32.const -1))))

        (local.set $i (i32.const 0))
        (block $sharedDone
          (loop $words
            (br_if $sharedDone (i32.ge_u (local.get $i) (local.get $shared)))
            (i64.store
              (i32.add (local.get $key) (local.get $i))
              (i64.load (i32.add (local.get $lastKey) (local.get $i))))
            (local.set $i (i32.add (local.get $i) (i32.const 8)))
            (br $words)))
        (local.set $i (i32.const 0))
        (local.set $from (i32.add (local.get $key) (local.get $shared)))
        (block $restDone
          (loop $words
            (br_if $restDone (i32.ge_u (local.get $i) (local.get $rest)))
            (i64.store
              (i32.add (local.get $from) (local.get $i))
              (i64.load (i32.add (local.get $at) (local.get $i))))
            (local.set $i (i32.add (local.get $i) (i32.const 8)))
            (br $words)))

        ;; It sorts after the last one: mostly the first byte that is not shared tells.
        (local.set $common (local.get $lastLength))
        (if (i32.lt_s (local.get $keyLength) (local.get $common))
          (then (local.set $common (local.get $keyLength))))
        (local.set $i (local.get $shared))
        (block $differs
          (block $equal
            (loop $bytes
              (br_if $equal (i32.ge_s (local.get $i) (local.get $common)))
              (br_if $differs
                (i32.ne
                  (i32.load8_u (i32.add (local.get $key) (local.get $i)))
                  (i32.load8_u (i32.add (local.get $lastKey) (local.get $i)))))
              (local.set $i (i32.add (local.get $i) (i32.const 1)))
              (br $bytes)))
          (if (i32.ge_s (local.get $lastLength) (local.get $keyLength)) (then (return (i32.const -1)))))
        (if (i32.lt_s (local.get $i) (local.get $common))
          (then
            (if (i32.lt_u
                  (i32.load8_u (i32.add (local.get $key) (local.get $i)))
                  (i32.load8_u (i32.add (local.get $lastKey) (local.get $i))))
              (then (return (i32.const -1))))))

        (local.set $lastKey (local.get $key))
        (local.set $lastLength (local.get $keyLength))
        (local.set $key (i32.add (local.get $key) (local.get $keyLength)))
        (local.set $at (i32.add (i32.add (local.get $at) (local.get $rest)) (i32.const 8)))
        (i32.store (local.get $row) (i32.sub (local.get $key) (i32.const 1376256)))
        (i32.store offset=4 (local.get $row) (i32.sub (local.get $at) (i32.const 1572864)))
        (local.set $at (i32.add (local.get $at) (local.get $value)))
        (i32.store offset=8 (local.get $row) (i32.sub (local.get $at) (i32.const 1572864)))
        (local.set $row (i32.add (local.get $row) (i32.const 12)))
        (br $entries)))

    (local.set $i
      (i32.div_u
        (i32.sub (local.get $row) (i32.load offset=1081352 (i32.const 0)))
        (i32.const 12)))
    (i32.store offset=1081344 (i32.const 0) (local.get $contentEnd))
    (i32.store offset=1081348 (i32.const 0) (local.get $key))
    (i32.store offset=1081352 (i32.const 0) (local.get $row))
    (local.get $i))

  ;; Makes the stored form of the content from $in to $end, at most 64 KiB, at $out: compressed, if that saves at least an
  ;; eighth, and behind it type and checksum. Returns where it ends.
  (func $store (export "store")
    (param $in i32) (param $end i32) (param $out i32) (param $tableBits i32) (result i32)
    (local $length i32) (local $at i32) (local $rest i32)
    (local.set $length (i32.sub (local.get $end) (local.get $in)))
    (local.set $at (local.get $out))
    (local.set $rest (local.get $length))
    (block $varintDone
      (loop $varint
        (br_if $varintDone (i32.lt_u (local.get $rest) (i32.const 0x80)))
        (i32.store8 (local.get $at) (i32.or (local.get $rest) (i32.const 0x80)))
        (local.set $rest (i32.shr_u (local.get $rest) (i32.const 7)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $varint)))
    (i32.store8 (local.get $at) (local.get $rest))
    (local.set $at
      (call $compress
        (local.get $in)
        (local.get $end)
        (i32.add (local.get $at) (i32.const 1))
        (local.get $tableBits)))
    (local.set $rest (i32.const 1))
    (if (i32.ge_u
          (i32.sub (local.get $at) (local.get $out))
          (i32.sub (local.get $length) (i32.shr_u (local.get $length) (i32.const 3))))
      (then
        (memory.copy (local.get $out) (local.get $in) (local.get $length))
        (local.set $at (i32.add (local.get $out) (local.get $length)))
        (local.set $rest (i32.const 0))))
    (i32.store8 (local.get $at) (local.get $rest))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (i32.store (local.get $at) (call $checksum (local.get $out) (local.get $at)))
    (i32.add (local.get $at) (i32.const 4)))

  ;; Whether all bytes from $at to $end are ASCII; up to 7 bytes behind them are cleared.
  (func $isAscii (export "isAscii") (param $at i32) (param $end i32) (result i32)
    (local $all i64)
    (i64.store (local.get $end) (i64.const 0))
    (block $done
      (loop $words
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $all (i64.or (local.get $all) (i64.load (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $words)))
    (i64.eqz (i64.and (local.get $all) (i64.const 0x8080808080808080)))))
