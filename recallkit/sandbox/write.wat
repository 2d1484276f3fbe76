;; Writes a view's JSON text as JSON.stringify does, from where it lies in the engine's memory (measure.wat has the layout)
;; into memory of its own, from where the worker takes it: a twentieth of the time, and none of the sandbox's memory. It is
;; given what measure.wat has found to be plain data, with the bytes of its text; where it answers -1 the page loop writes.
;;
;; The texts of numbers that are hard to write are remembered here, as the page loop wrote them.
;;   number  40 bytes: its bits, the bytes of its text, the text; a later one takes the place of an earlier
(module
  (import "host" "memory" (memory $engine 1))
  (memory $out (export "out") 3)
  (global $NUMBERS i32 (i32.const 4096))
  (global $NUMBER i32 (i32.const 40))
  (global $OUT (export "begin") i32 (i32.const 0x30000))  ;; past the numbers: where what is written begins
  (global $FLOAT i32 (i32.const 0x7ff8000a))

  (global $atoms (mut i32) (i32.const 0))
  (global $at (mut i32) (i32.const 0))         ;; where the next byte goes
  (global $high (mut i32) (i32.const 0))       ;; the first half of a pair, when it came last
  (global $failed (mut i32) (i32.const 0))

  (func (export "set_layout") (param i32) (global.set $atoms (local.get 0)))

  ;; Writes the value at an address, past so many bytes that were written before; gives how many there are then.
  (func (export "write") (param $value i32) (param $before i32) (param $bytes i32) (result i32)
    (local $end i32) (local $room i32)
    (global.set $at (i32.add (global.get $OUT) (local.get $before)))
    (local.set $end (i32.add (global.get $at) (local.get $bytes)))
    ;; sixteen bytes are stored at once where a text ends
    (local.set $room (i32.shr_u (i32.add (local.get $end) (i32.const 0x1000f)) (i32.const 16)))
    (if (i32.gt_u (local.get $room) (memory.size $out))
      (then
        (if (i32.eq (memory.grow $out (i32.sub (local.get $room) (memory.size $out))) (i32.const -1))
          (then (return (i32.const -1))))))
    (global.set $failed (i32.const 0))
    (global.set $high (i32.const 0))
    (call $value (local.get $value))
    (if (i32.or (global.get $failed) (i32.ne (global.get $at) (local.get $end))) (then (return (i32.const -1))))
    (i32.sub (local.get $end) (global.get $OUT)))

  (func $byte (param i32)
    (i32.store8 $out (global.get $at) (local.get 0))
    (global.set $at (i32.add (global.get $at) (i32.const 1))))
  ;; four bytes that stand in a word, the first one lowest
  (func $word (param i32)
    (i32.store $out (global.get $at) (local.get 0))
    (global.set $at (i32.add (global.get $at) (i32.const 4))))

  (func $value (param $place i32)
    (local $low i32) (local $tag i32)
    (if (global.get $failed) (then (return)))
    (local.set $low (i32.load $engine (local.get $place)))
    (local.set $tag (i32.load $engine offset=4 (local.get $place)))
    (if (i32.eq (local.get $tag) (i32.const -1)) (then (call $container (local.get $low)) (return)))
    (if (i32.eq (local.get $tag) (i32.const -7)) (then (call $quoted (local.get $low)) (return)))
    (if (i32.eqz (local.get $tag))
      (then
        (if (i32.lt_s (local.get $low) (i32.const 0)) (then (call $byte (i32.const 0x2d))))
        (call $digits (i64.extend_i32_u (select (i32.sub (i32.const 0) (local.get $low)) (local.get $low)
          (i32.lt_s (local.get $low) (i32.const 0)))))
        (return)))
    (if (i32.eq (local.get $tag) (i32.const 1))
      (then
        (if (local.get $low)
          (then (call $word (i32.const 0x65757274)))
          (else (call $word (i32.const 0x736c6166)) (call $byte (i32.const 0x65))))
        (return)))
    (if (i32.eq (local.get $tag) (i32.const 2)) (then (call $word (i32.const 0x6c6c756e)) (return)))
    (if (i32.eq (local.get $tag) (i32.const -6))
      (then
        (call $byte (i32.const 0x22))
        (call $rope (local.get $low))
        (call $half)
        (call $byte (i32.const 0x22))
        (return)))
    (if (i32.ge_u (i32.add (local.get $tag) (i32.const 9)) (i32.const 17))
      (then (call $float (local.get $place)) (return)))
    (global.set $failed (i32.const 1)))

  (func $container (param $at i32)
    (local $shape i32) (local $values i32) (local $count i32) (local $i i32) (local $name i32)
    (local $least i32) (local $texts i32) (local $more i32)
    (if (i32.eq (i32.shr_u (i32.load $engine offset=4 (local.get $at)) (i32.const 8)) (i32.const 0x0101))
      (then
        (local.set $shape (i32.load $engine offset=20 (local.get $at)))
        (local.set $count (i32.load $engine offset=32 (local.get $shape)))
        (local.set $values (i32.load $engine offset=24 (local.get $at))))
      (else
        (local.set $count (i32.load $engine offset=40 (local.get $at)))
        (local.set $values (i32.load $engine offset=36 (local.get $at)))))
    (call $byte (select (i32.const 0x7b) (i32.const 0x5b) (local.get $shape)))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
      (block $deleted
        (if (local.get $shape)
          (then
            (local.set $name (i32.load $engine offset=52
              (i32.add (local.get $shape) (i32.shl (local.get $i) (i32.const 3)))))
            (br_if $deleted (i32.eqz (local.get $name)))
            (if (local.get $more) (then (call $byte (i32.const 0x2c))))
            (if (i32.lt_s (local.get $name) (i32.const 0))
              (then
                ;; names that are whole numbers come first, the least before; where they lie so, all is as it lies
                (local.set $name (i32.and (local.get $name) (i32.const 0x7fffffff)))
                (if (i32.or (local.get $texts) (i32.lt_u (local.get $name) (local.get $least)))
                  (then (global.set $failed (i32.const 1))))
                (local.set $least (i32.add (local.get $name) (i32.const 1)))
                (call $byte (i32.const 0x22))
                (call $digits (i64.extend_i32_u (local.get $name)))
                (call $byte (i32.const 0x22)))
              (else
                (local.set $texts (i32.const 1))
                (if (call $index (local.get $name)) (then (global.set $failed (i32.const 1))))
                (call $quoted (call $atom (local.get $name)))))
            (call $byte (i32.const 0x3a)))
          (else (if (local.get $more) (then (call $byte (i32.const 0x2c))))))
        (local.set $more (i32.const 1))
        (call $value (i32.add (local.get $values) (i32.shl (local.get $i) (i32.const 3)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (call $byte (select (i32.const 0x7d) (i32.const 0x5d) (local.get $shape))))

  (func $atom (param $name i32) (result i32)
    (i32.load $engine (i32.add (i32.load $engine (global.get $atoms)) (i32.shl (local.get $name) (i32.const 2)))))
  ;; whether a name is a whole number that an object lists before its other names
  (func $index (param $name i32) (result i32)
    (local $i i32)
    (if (i32.lt_s (local.get $name) (i32.const 0)) (then (return (i32.const 1))))
    ;; others than those of ten digits are kept as numbers
    (local.set $name (call $atom (local.get $name)))
    (if (i32.ne (i32.load $engine offset=4 (local.get $name)) (i32.const 10)) (then (return (i32.const 0))))
    (loop $next
      (if (i32.ge_u (i32.sub (i32.load8_u $engine offset=16 (i32.add (local.get $name) (local.get $i))) (i32.const 0x30))
                    (i32.const 10))
        (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 10))))
    (i32.const 1))

  (func $digits (param $n i64)
    (local $count i32) (local $m i64) (local $end i32)
    (local.set $m (local.get $n))
    (loop $next
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (local.set $m (i64.div_u (local.get $m) (i64.const 10)))
      (br_if $next (i64.ne (local.get $m) (i64.const 0))))
    (call $padded (local.get $n) (local.get $count)))
  (func $padded (param $n i64) (param $count i32)
    (local $at i32)
    (local.set $at (i32.add (global.get $at) (local.get $count)))
    (global.set $at (local.get $at))
    (block $done (loop $next
      (br_if $done (i32.eqz (local.get $count)))
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (i32.store8 $out (local.get $at)
        (i32.add (i32.const 0x30) (i32.wrap_i64 (i64.rem_u (local.get $n) (i64.const 10)))))
      (local.set $n (i64.div_u (local.get $n) (i64.const 10)))
      (br $next))))

  ;; as measure.wat: the fewest decimals that give the number are those of its text
  (func $float (param $place i32)
    (local $value f64) (local $size f64) (local $power f64) (local $n f64) (local $decimals i32)
    (local $whole i64) (local $ten i64) (local $at i32)
    (local.set $value (f64.reinterpret_i64 (i64.add (i64.load $engine (local.get $place))
      (i64.shl (i64.extend_i32_u (global.get $FLOAT)) (i64.const 32)))))
    (local.set $size (f64.abs (local.get $value)))
    (if (i32.and (f64.lt (local.get $size) (f64.const 1e15)) (f64.ge (local.get $size) (f64.const 1e-6)))
      (then
        (local.set $power (f64.const 1))
        (local.set $ten (i64.const 1))
        (block $no (loop $next
          (local.set $n (f64.nearest (f64.mul (local.get $size) (local.get $power))))
          (br_if $no (f64.ge (local.get $n) (f64.const 1e15)))
          (if (f64.eq (f64.div (local.get $n) (local.get $power)) (local.get $size))
            (then
              (if (f64.lt (local.get $value) (f64.const 0)) (then (call $byte (i32.const 0x2d))))
              (local.set $whole (i64.trunc_f64_u (local.get $n)))
              (call $digits (i64.div_u (local.get $whole) (local.get $ten)))
              (if (local.get $decimals)
                (then
                  (call $byte (i32.const 0x2e))
                  (call $padded (i64.rem_u (local.get $whole) (local.get $ten)) (local.get $decimals))))
              (return)))
          (local.set $power (f64.mul (local.get $power) (f64.const 10)))
          (local.set $ten (i64.mul (local.get $ten) (i64.const 10)))
          (local.set $decimals (i32.add (local.get $decimals) (i32.const 1)))
          (br_if $next (i32.le_u (local.get $decimals) (i32.const 9)))))))
    (local.set $at (call $number (i64.reinterpret_f64 (local.get $value))))
    (if (i64.ne (i64.load $out (local.get $at)) (i64.reinterpret_f64 (local.get $value)))
      (then (global.set $failed (i32.const 1)) (return)))
    (memory.copy $out $out (global.get $at) (i32.add (local.get $at) (i32.const 12))
      (i32.load $out offset=8 (local.get $at)))
    (global.set $at (i32.add (global.get $at) (i32.load $out offset=8 (local.get $at)))))

  (func $number (param $bits i64) (result i32)
    (i32.mul
      (i32.and
        (i32.shr_u
          (i32.mul (i32.xor (i32.wrap_i64 (local.get $bits)) (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 32))))
                   (i32.const 0x9e3779b1))
          (i32.const 20))
        (i32.sub (global.get $NUMBERS) (i32.const 1)))
      (global.get $NUMBER)))
  ;; the bytes of a number's text; 0: not known
  (func (export "length") (param $bits i64) (result i32)
    (local $at i32)
    (local.set $at (call $number (local.get $bits)))
    (select (i32.load $out offset=8 (local.get $at)) (i32.const 0)
      (i64.eq (i64.load $out (local.get $at)) (local.get $bits))))
  ;; the text of a number, one of the engine's texts: no number's has more than 25 characters
  (func (export "learn") (param $bits i64) (param $text i32)
    (local $at i32) (local $length i32)
    (local.set $length (i32.load $engine offset=4 (local.get $text)))
    (if (i32.gt_u (local.get $length) (i32.const 25)) (then (return)))
    (local.set $at (call $number (local.get $bits)))
    (i64.store $out (local.get $at) (local.get $bits))
    (i32.store $out offset=8 (local.get $at) (local.get $length))
    (memory.copy $out $engine (i32.add (local.get $at) (i32.const 12)) (i32.add (local.get $text) (i32.const 16))
      (local.get $length)))

  (func $quoted (param $text i32)
    (call $byte (i32.const 0x22))
    (call $text (local.get $text))
    (call $half)
    (call $byte (i32.const 0x22)))
  (func $rope (param $at i32)
    (call $piece (i32.add (local.get $at) (i32.const 16)))
    (call $piece (i32.add (local.get $at) (i32.const 24))))
  (func $piece (param $value i32)
    (if (i32.eq (i32.load $engine offset=4 (local.get $value)) (i32.const -6))
      (then (call $rope (i32.load $engine (local.get $value))))
      (else (call $text (i32.load $engine (local.get $value))))))

  (func $text (param $text i32)
    (local $at i32) (local $end i32) (local $length i32) (local $x v128)
    (local.set $length (i32.and (i32.load $engine offset=4 (local.get $text)) (i32.const 0x7fffffff)))
    (local.set $at (i32.add (local.get $text) (i32.const 16)))
    (if (i32.ge_s (i32.load $engine offset=4 (local.get $text)) (i32.const 0))
      (then
        (local.set $end (i32.add (local.get $at) (local.get $length)))
        (block $done (loop $next
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (if (i32.and (i32.le_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)) (i32.eqz (global.get $high)))
            (then
              (local.set $x (v128.load $engine (local.get $at)))
              (if (i32.eqz (call $marked (local.get $x)))
                (then
                  (v128.store $out (global.get $at) (local.get $x))
                  (global.set $at (i32.add (global.get $at) (i32.const 16)))
                  (local.set $at (i32.add (local.get $at) (i32.const 16)))
                  (br $next)))))
          (call $unit (i32.load8_u $engine (local.get $at)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
      (else
        (local.set $end (i32.add (local.get $at) (i32.shl (local.get $length) (i32.const 1))))
        (block $done (loop $next
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (if (i32.and (i32.le_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)) (i32.eqz (global.get $high)))
            (then
              ;; eight units, where each is one byte: what is larger becomes 255
              (local.set $x (v128.load $engine (local.get $at)))
              (local.set $x (i8x16.narrow_i16x8_u (local.get $x) (local.get $x)))
              (if (i32.eqz (i32.or (call $marked (local.get $x)) (call $wide (v128.load $engine (local.get $at)))))
                (then
                  (i64.store $out (global.get $at) (i64x2.extract_lane 0 (local.get $x)))
                  (global.set $at (i32.add (global.get $at) (i32.const 8)))
                  (local.set $at (i32.add (local.get $at) (i32.const 16)))
                  (br $next)))))
          (call $unit (i32.load16_u $engine (local.get $at)))
          (local.set $at (i32.add (local.get $at) (i32.const 2)))
          (br $next))))))
  ;; whether one of sixteen units is not written as it is: past ASCII, below the space, a quote or a backslash
  (func $marked (param $x v128) (result i32)
    (v128.any_true
      (v128.or (i8x16.lt_s (local.get $x) (i8x16.splat (i32.const 0x20)))
        (v128.or (i8x16.eq (local.get $x) (i8x16.splat (i32.const 0x22)))
                 (i8x16.eq (local.get $x) (i8x16.splat (i32.const 0x5c)))))))
  ;; whether one of eight units is past ASCII; narrowing takes those from U+8000 on for less than nothing
  (func $wide (param $x v128) (result i32)
    (v128.any_true (v128.and (local.get $x) (i16x8.splat (i32.const 0xff80)))))

  ;; what is left of a pair whose other half did not come is written as \ud83d
  (func $half
    (if (global.get $high) (then (call $escaped (global.get $high)) (global.set $high (i32.const 0)))))
  (func $escaped (param $unit i32)
    (call $byte (i32.const 0x5c))
    (call $byte (i32.const 0x75))
    (call $hex (i32.shr_u (local.get $unit) (i32.const 12)))
    (call $hex (i32.shr_u (local.get $unit) (i32.const 8)))
    (call $hex (i32.shr_u (local.get $unit) (i32.const 4)))
    (call $hex (local.get $unit)))
  (func $hex (param $n i32)
    (local.set $n (i32.and (local.get $n) (i32.const 15)))
    (call $byte (i32.add (local.get $n) (select (i32.const 0x30) (i32.const 0x57) (i32.lt_u (local.get $n) (i32.const 10))))))

  (func $unit (param $unit i32)
    (local $kind i32)
    (local.set $kind (i32.and (local.get $unit) (i32.const 0xfc00)))
    (if (i32.eq (local.get $kind) (i32.const 0xdc00))
      (then
        (if (i32.eqz (global.get $high)) (then (call $escaped (local.get $unit)) (return)))
        (local.set $unit (i32.add (i32.const 0x10000)
          (i32.or (i32.shl (i32.and (global.get $high) (i32.const 0x3ff)) (i32.const 10))
                  (i32.and (local.get $unit) (i32.const 0x3ff)))))
        (global.set $high (i32.const 0))
        (call $byte (i32.or (i32.const 0xf0) (i32.shr_u (local.get $unit) (i32.const 18))))
        (call $tail (i32.shr_u (local.get $unit) (i32.const 12)))
        (call $tail (i32.shr_u (local.get $unit) (i32.const 6)))
        (call $tail (local.get $unit))
        (return)))
    (call $half)
    (if (i32.eq (local.get $kind) (i32.const 0xd800)) (then (global.set $high (local.get $unit)) (return)))
    (if (i32.lt_u (local.get $unit) (i32.const 0x80)) (then (call $ascii (local.get $unit)) (return)))
    (if (i32.lt_u (local.get $unit) (i32.const 0x800))
      (then (call $byte (i32.or (i32.const 0xc0) (i32.shr_u (local.get $unit) (i32.const 6)))))
      (else
        (call $byte (i32.or (i32.const 0xe0) (i32.shr_u (local.get $unit) (i32.const 12))))
        (call $tail (i32.shr_u (local.get $unit) (i32.const 6)))))
    (call $tail (local.get $unit)))
  (func $tail (param $bits i32)
    (call $byte (i32.or (i32.const 0x80) (i32.and (local.get $bits) (i32.const 0x3f)))))

  (func $ascii (param $unit i32)
    (if (i32.lt_u (local.get $unit) (i32.const 0x20))
      (then
        ;; \b \t \n \f \r
        (if (i32.eqz (i32.and (i32.shr_u (i32.const 0x3700) (local.get $unit)) (i32.const 1)))
          (then (call $escaped (local.get $unit)) (return)))
        (call $byte (i32.const 0x5c))
        (call $byte (i32.wrap_i64 (i64.and (i64.const 0xff)
          (i64.shr_u (i64.const 0x72_66_00_6e_74_62)
            (i64.extend_i32_u (i32.shl (i32.sub (local.get $unit) (i32.const 8)) (i32.const 3)))))))
        (return)))
    (if (i32.or (i32.eq (local.get $unit) (i32.const 0x22)) (i32.eq (local.get $unit) (i32.const 0x5c)))
      (then (call $byte (i32.const 0x5c))))
    (call $byte (local.get $unit))))
