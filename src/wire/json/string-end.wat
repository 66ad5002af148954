;; Finds the end of a JSON string, sixteen bytes at a time. `npm run wasm` compiles it into string-end.ts; a test compares both.
(module
  ;; 4 MiB of text, and one page for reads past its end.
  (memory (export "memory") 65 65)

  (func $isHex (param $byte i32) (result i32)
    (i32.or
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
      (i32.lt_u (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)) (i32.const 6))))

  ;; Returns the offset after the closing quote of a string. $at is the offset after its opening quote. -1 when the string has a
  ;; control character or an invalid escape. The text must end with a zero byte, which ends every search.
  (func (export "stringEnd") (param $at i32) (result i32)
    (local $bytes v128)
    (local $stops i32)
    (local $byte i32)
    (loop $next
      (local.set $bytes (v128.load (local.get $at)))
      ;; One bit for each control character, quote and backslash among the sixteen bytes.
      (local.set $stops
        (i8x16.bitmask
          (v128.or
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20)))
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
      (if (i32.eqz (local.get $stops))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next)))
      (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $stops))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (return (i32.add (local.get $at) (i32.const 1)))))
      (if (i32.ne (local.get $byte) (i32.const 0x5c)) (then (return (i32.const -1))))
      (local.set $byte (i32.load8_u offset=1 (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x6e))) ;; n
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x22))) ;; "
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x5c))) ;; \
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x74))) ;; t
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x72))) ;; r
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x2f))) ;; /
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x62))) ;; b
      (br_if $next (i32.eq (local.get $byte) (i32.const 0x66))) ;; f
      (if (i32.ne (local.get $byte) (i32.const 0x75)) (then (return (i32.const -1)))) ;; u
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next
        (i32.and
          (i32.and
            (call $isHex (i32.load8_u (i32.sub (local.get $at) (i32.const 4))))
            (call $isHex (i32.load8_u (i32.sub (local.get $at) (i32.const 3)))))
          (i32.and
            (call $isHex (i32.load8_u (i32.sub (local.get $at) (i32.const 2))))
            (call $isHex (i32.load8_u (i32.sub (local.get $at) (i32.const 1))))))))
    (i32.const -1)))
