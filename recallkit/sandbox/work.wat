;; What the engine asks of its host, answered inside wasm so that no fold ever waits for Python.
;;
;; The engine's build names its imports with single letters; the letters hold for the pinned SHA-256 only
;; (wasm.py checks it). The control block is a few words in the engine's own memory, at an address that the
;; host sets once; the page loop reads and writes the same words through a typed array:
;;
;;   offset  0  i32  checkpoints counted since the page loop last set it to 0
;;           4  i32  budget: how many checkpoints may be spent; negative: not bounded
;;           8  i32  why the engine was interrupted, or memory refused: 1 work, 2 memory, 3 time, 4 stopped
;;          12  i32  stop: the host asks for an end at the next checkpoint
;;          16  i32  bytes: the answer of utf8, of measure and of its kin
;;          20  i32  sequence: how many guarded calls were begun (the watchdog looks at it)
;;          24  f64  clock: milliseconds, monotonic
;;          32  f64  deadline: on the same clock
;;          40  i32  index, 44 i32 phase: what the page loop is at (page_fold.js)
;;          48  i64  where the clock import writes
;;          56  i32  size of the memory, in pages of 64 KiB, at the last reading of the clock
;;          60  i32  held, 64 i32 references, 68 i32 numbers: what else measure answers (measure.wat)
;;          72 i32  written: how many bytes of keyframes lie beside the sandbox's memory (write.wat)
;;          76 i32  members: of what fresh was asked
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $wasi_clock (param i32 i64 i32) (result i32)))
  (import "measure" "measure" (func $measure (param i32) (result i32)))
  (import "measure" "remeasure" (func $remeasure (param i32 i32) (result i32)))
  (import "measure" "learn" (func $learn (param i32 i32)))
  (import "write" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "measure" "known" (func $known (param i32 i32) (result i32)))
  (import "measure" "note" (func $note (param i32 i32)))
  (import "measure" "fresh" (func $fresh (param i32 i32 i32) (result i32)))
  (import "measure" "members" (func $members (result i32)))
  (import "known" "forget" (func $forget))
  (import "measure" "held" (func $held (result i32)))
  (import "measure" "numbers" (func $numbers (result i32)))
  (import "host" "memory" (memory 1))
  (export "memory" (memory 0))
  (global $control (mut i32) (i32.const 0))
  (func (export "set_control") (param i32) (global.set $control (local.get 0)))

  (func $tick
    (drop (call $wasi_clock (i32.const 1) (i64.const 1) (i32.add (global.get $control) (i32.const 48))))
    (f64.store offset=24 (global.get $control)
      (f64.div (f64.convert_i64_u (i64.load offset=48 (global.get $control))) (f64.const 1e6)))
    (i32.store offset=56 (global.get $control) (memory.size)))

  ;; i: the interrupt handler, once every 10,000 steps; nonzero ends the engine's call, past every catch
  (func (export "i") (param i32) (result i32)
    (local $c i32)
    (local.set $c (global.get $control))
    (i32.store (local.get $c) (i32.add (i32.load (local.get $c)) (i32.const 1)))
    (if (i32.and (i32.ge_s (i32.load offset=4 (local.get $c)) (i32.const 0))
                 (i32.gt_s (i32.load (local.get $c)) (i32.load offset=4 (local.get $c))))
      (then (i32.store offset=8 (local.get $c) (i32.const 1)) (return (i32.const 1))))
    ;; memory was refused before: whoever caught that error goes no further
    (if (i32.eq (i32.load offset=8 (local.get $c)) (i32.const 2)) (then (return (i32.const 1))))
    (if (i32.load offset=12 (local.get $c))
      (then (i32.store offset=8 (local.get $c) (i32.const 4)) (return (i32.const 1))))
    (call $tick)
    (if (f64.gt (f64.load offset=24 (local.get $c)) (f64.load offset=32 (local.get $c)))
      (then (i32.store offset=8 (local.get $c) (i32.const 3)) (return (i32.const 1))))
    (i32.const 0))

  ;; k: growing the memory, by the same amounts as the build's own JavaScript grows it, so that the bound
  ;; is met at the same request; a refusal is remembered, whoever catches the error
  (func (export "k") (param $asked i32) (result i32)
    (local $size f64) (local $try f64) (local $want f64) (local $pages i32)
    (if (i32.gt_u (local.get $asked) (i32.const 0x80000000)) (then (call $refused) (return (i32.const 0))))
    (local.set $size (f64.mul (f64.convert_i32_u (memory.size)) (f64.const 65536)))
    (local.set $try (f64.const 1))
    (block $out
      (loop $again
        (br_if $out (f64.gt (local.get $try) (f64.const 4)))
        (local.set $want (f64.mul (local.get $size) (f64.add (f64.const 1) (f64.div (f64.const 0.2) (local.get $try)))))
        (local.set $want (f64.min (local.get $want) (f64.add (f64.convert_i32_u (local.get $asked)) (f64.const 100663296))))
        (local.set $want (f64.max (local.get $want) (f64.convert_i32_u (local.get $asked))))
        (local.set $want (f64.mul (f64.ceil (f64.div (local.get $want) (f64.const 65536))) (f64.const 65536)))
        (local.set $want (f64.min (local.get $want) (f64.const 2147483648)))
        (local.set $pages (i32.trunc_f64_s
          (f64.div (f64.add (f64.sub (local.get $want) (local.get $size)) (f64.const 65535)) (f64.const 65536))))
        (if (i32.ne (memory.grow (local.get $pages)) (i32.const -1)) (then (return (i32.const 1))))
        (local.set $try (f64.mul (local.get $try) (f64.const 2)))
        (br $again)))
    (call $refused)
    (i32.const 0))
  (func $refused
    (if (global.get $control) (then (i32.store offset=8 (global.get $control) (i32.const 2)))))

  ;; s: a native function of the page loop was called (context, this, argc, argv, which); 0 is undefined
  (func (export "s") (param i32 i32 i32 i32 i32) (result i32)
    (if (i32.eq (local.get 4) (i32.const 1)) (then (call $tick)))
    (if (i32.eq (local.get 4) (i32.const 2))
      (then (i32.store offset=16 (global.get $control) (call $utf8 (i32.load (local.get 3))))))
    (if (i32.eq (local.get 4) (i32.const 3))
      (then
        (i32.store offset=16 (global.get $control) (call $measure (local.get 3)))
        (i32.store offset=60 (global.get $control) (call $held))
        ;; how many hold the value itself, where it is a list or an object
        (if (i32.eq (i32.load offset=4 (local.get 3)) (i32.const -1))
          (then (i32.store offset=64 (global.get $control) (i32.load (i32.load (local.get 3))))))
        (i32.store offset=68 (global.get $control) (call $numbers))))
    (if (i32.eq (local.get 4) (i32.const 4))
      (then (call $learn (i32.load (local.get 3)) (i32.load offset=8 (local.get 3)))))
    (if (i32.eq (local.get 4) (i32.const 5))
      (then
        (i32.store offset=16 (global.get $control)
          (call $remeasure (local.get 3) (i32.add (local.get 3) (i32.const 8))))
        (i32.store offset=68 (global.get $control) (call $numbers))))
    (if (i32.eq (local.get 4) (i32.const 6))
      (then
        (i32.store offset=16 (global.get $control)
          (call $known (local.get 3) (i32.load offset=8 (local.get 3))))))
    (if (i32.eq (local.get 4) (i32.const 7)) (then (call $note (local.get 3) (i32.load offset=8 (local.get 3)))))
    (if (i32.eq (local.get 4) (i32.const 8))
      (then
        (i32.store offset=16 (global.get $control)
          (call $fresh (local.get 3) (i32.load offset=8 (local.get 3)) (i32.add (local.get 3) (i32.const 16))))
        (i32.store offset=76 (global.get $control) (call $members))))
    (if (i32.eq (local.get 4) (i32.const 9)) (then (call $forget)))
    (if (i32.eq (local.get 4) (i32.const 10))
      (then
        (i32.store offset=16 (global.get $control)
          (call $write (local.get 3) (i32.load offset=8 (local.get 3)) (i32.load offset=16 (local.get 3))))))
    (i32.const 0))

  ;; The UTF-8 size of an engine string, read where it lies: after a 4-byte count of references come
  ;; 31 bits of length and 1 bit of width, 8 bytes of hash and link, then Latin-1 bytes or UTF-16 units.
  (func $utf8 (param $string i32) (result i32)
    (local $length i32) (local $at i32) (local $end i32) (local $bytes i32) (local $unit i32)
    (local.set $length (i32.load offset=4 (local.get $string)))
    (local.set $at (i32.add (local.get $string) (i32.const 16)))
    (if (i32.lt_s (local.get $length) (i32.const 0))
      (then
        (local.set $length (i32.and (local.get $length) (i32.const 0x7fffffff)))
        (local.set $end (i32.add (local.get $at) (i32.shl (local.get $length) (i32.const 1))))
        (block $done (loop $next
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (local.set $unit (i32.load16_u (local.get $at)))
          (local.set $at (i32.add (local.get $at) (i32.const 2)))
          (local.set $bytes (i32.add (local.get $bytes)
            (i32.add (i32.const 1)
              (i32.add (i32.ge_u (local.get $unit) (i32.const 0x80)) (i32.ge_u (local.get $unit) (i32.const 0x800))))))
          ;; a pair takes 4 bytes, not 6; a half alone takes 3
          (if (i32.and (i32.eq (i32.and (local.get $unit) (i32.const 0xfc00)) (i32.const 0xd800))
                       (i32.lt_u (local.get $at) (local.get $end)))
            (then (if (i32.eq (i32.and (i32.load16_u (local.get $at)) (i32.const 0xfc00)) (i32.const 0xdc00))
              (then (local.set $bytes (i32.add (local.get $bytes) (i32.const 1)))
                    (local.set $at (i32.add (local.get $at) (i32.const 2)))))))
          (br $next))))
      (else
        (local.set $end (i32.add (local.get $at) (local.get $length)))
        (local.set $bytes (local.get $length))
        ;; eight bytes at a time: the popcount of their high bits
        (block $done8 (loop $next8
          (br_if $done8 (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $end)))
          (local.set $bytes (i32.add (local.get $bytes)
            (i32.wrap_i64 (i64.popcnt (i64.and (i64.load (local.get $at)) (i64.const 0x8080808080808080))))))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br $next8)))
        (block $done1 (loop $next1
          (br_if $done1 (i32.ge_u (local.get $at) (local.get $end)))
          (local.set $bytes (i32.add (local.get $bytes) (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 0x80))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next1)))))
    (local.get $bytes))

  ;; p: the time of day. The page loop gives documents their clock, so that none reads the host's.
  (func (export "p") (result f64) (f64.const 0))
  ;; m, n: local time and the time zone: there is none
  (func (export "m") (param i64 i32) (memory.fill (local.get 1) (i32.const 0) (i32.const 40)))
  (func (export "n") (param i32 i32 i32 i32)
    (i32.store (local.get 0) (i32.const 0)) (i32.store (local.get 1) (i32.const 0))
    (i32.store8 (local.get 2) (i32.const 0)) (i32.store8 (local.get 3) (i32.const 0)))
  ;; e, f: the environment: empty
  (func (export "e") (param i32 i32) (result i32) (i32.const 0))
  (func (export "f") (param i32 i32) (result i32)
    (i32.store (local.get 0) (i32.const 0)) (i32.store (local.get 1) (i32.const 0)) (i32.const 0))
  ;; d, o, c: close, seek and write of files: there are none (52: not supported, 70: cannot seek)
  (func (export "d") (param i32) (result i32) (i32.const 52))
  (func (export "o") (param i32 i64 i32 i32) (result i32) (i32.const 70))
  (func (export "c") (param i32 i32 i32 i32) (result i32) (i32.const 52))
  ;; h, g: loading and naming a module that an import asks for: there are none
  (func (export "h") (param i32 i32 i32) (result i32) (i32.const 0))
  (func (export "g") (param i32 i32 i32 i32) (result i32) (i32.const 0))
  ;; j, l, t: timers, keeping alive, freeing host references: nothing to do
  (func (export "j") (param i32 f64) (result i32) (i32.const 0))
  (func (export "l"))
  (func (export "t") (param i32 i32))
  ;; b, q, r: a failed assertion, an abort, an exit: the sandbox is dead
  (func (export "b") (param i32 i32 i32 i32) (unreachable))
  (func (export "q") (unreachable))
  (func (export "r") (param i32) (unreachable)))
