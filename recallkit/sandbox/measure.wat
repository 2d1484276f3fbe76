;; What the page loop asks about a value that a fold returned: whether it is plain JSON data, how many bytes its JSON
;; text has, and whether anything else holds a part of it. Read where it lies in the engine's memory, without a call
;; of the engine; the layout is that of the pinned build (wasm.py checks its SHA-256), of objects in 32 bits:
;;
;;   object   0 references   5 flags: 1 may take members, 4 exotic, 8 fast list   6 class: 1 object, 2 list
;;           16 weak references   20 shape   24 members' values   36 a list's values   40 their count
;;   shape   32 members, deleted ones too   44 prototype   48 each member: 26 bits of a link, 6 of flags, then its name
;;   text     4 length in 31 bits, 1 for UTF-16   8 top 2 bits: 1 the name of a member   16 Latin-1 bytes or UTF-16 units
;;   rope    16 left and 24 right, values: texts that were added up and lie apart
;;   value    8 bytes: payload and tag; a tag outside of the list makes a number, its high word less than its own by $FLOAT
;;   name     an index into the runtime's texts, or with the top bit set a whole number
;;
;; Where it answers -1 nothing is said: the page loop then looks for itself (fitness.js).
;;
;; For a module that writes to nothing that it did not make, what is known of each list and object of the view is
;; remembered beside the sandbox's memory, and only what the fold made is read (remeasure, known.wat).
(module
  (import "host" "memory" (memory 1))
  (import "known" "find" (func $find (param i32) (result i32)))
  (import "known" "see" (func $see (param i32) (result i32)))
  (import "known" "levels" (func $levels (param i32) (result i32)))
  (import "known" "put" (func $put (param i32 i32 i32)))
  (import "known" "drop" (func $drop (param i32) (result i32)))
  (import "known" "begin" (func $begin))
  (import "known" "forget" (func $forget))
  (import "known" "full" (func $full (result i32)))
  (import "known" "tag" (func $tag (param i32) (result i32)))
  (import "known" "set_tag" (func $set_tag (param i32 i32)))
  (import "write" "length" (func $length (param i64) (result i32)))
  (import "write" "learn" (func $learn (param i64 i32)))
  (global $OBJECT i32 (i32.const -1))
  (global $FLOAT i32 (i32.const 0x7ff8000a))
  (global $LEVELS i32 (i32.const 512))
  (global $SHAPES i32 (i32.const 64))
  (global $FLOATS i32 (i32.const 1024))
  ;; one object in many places is read in each of them: past so many bytes no memory holds the text
  (global $MOST i32 (i32.const 0x08000000))

  (global $atoms (mut i32) (i32.const 0))      ;; where the runtime keeps the address of its texts
  (global $prototype (mut i32) (i32.const 0))  ;; of every plain object
  (global $list (mut i32) (i32.const 0))       ;; the shape of every plain list
  (global $block (mut i32) (i32.const 0))      ;; memory of this module's own: 64 shapes and their names' bytes, 1,024 numbers
  (global $bytes (mut i32) (i32.const 0))
  (global $held (mut i32) (i32.const 0))       ;; whether something else holds a part
  (global $numbers (mut i32) (i32.const 0))
  (global $remember (mut i32) (i32.const 0))   ;; whether what is known of a part is asked, and put down
  (global $deepest (mut i32) (i32.const 0))    ;; the level of the deepest part read
  (global $members (mut i32) (i32.const 0))    ;; how many members what was asked for new ones has
  (global $half (mut i32) (i32.const 0))       ;; whether the last unit of a text was the first half of a pair

  (func (export "set_layout") (param i32 i32 i32 i32)
    (global.set $atoms (local.get 0)) (global.set $prototype (local.get 1))
    (global.set $list (local.get 2)) (global.set $block (local.get 3)))
  (func (export "held") (result i32) (global.get $held))
  (func (export "numbers") (result i32) (global.get $numbers))

  ;; the bytes of the value at an address, without those of the numbers put into the block; -1: look for yourself
  (func (export "measure") (param $value i32) (result i32)
    (global.set $remember (i32.const 0))
    (call $measure (local.get $value)))
  ;; the same of a view in place of the one before it, which may share parts with it and is still there
  (func (export "remeasure") (param $value i32) (param $before i32) (result i32)
    (local $bytes i32)
    (loop $again
      (call $begin)
      (global.set $remember (i32.const 1))
      (local.set $bytes (call $measure (local.get $value)))
      ;; there are more parts than there were places: now there are more places
      (br_if $again (call $full)))
    (if (i32.lt_s (local.get $bytes) (i32.const 0))
      (then (call $forget))
      (else
        (if (i32.eq (i32.load offset=4 (local.get $before)) (global.get $OBJECT))
          (then (call $sweep (i32.load (local.get $before)))))))
    (local.get $bytes))

  (func $measure (param $value i32) (result i32)
    (if (i32.ne (i32.load offset=4 (local.get $value)) (global.get $OBJECT)) (then (return (i32.const -1))))
    (global.set $bytes (i32.const 0)) (global.set $held (i32.const 0)) (global.set $numbers (i32.const 0))
    (memory.fill (global.get $block) (i32.const 0) (i32.shl (global.get $SHAPES) (i32.const 3)))
    (if (result i32) (call $container (i32.load (local.get $value)) (i32.const 1))
      (then (global.get $bytes)) (else (i32.const -1))))

  (func $add (param i32) (global.set $bytes (i32.add (global.get $bytes) (local.get 0))))

  (func $container (param $at i32) (param $level i32) (result i32)
    (local $slot i32) (local $before i32) (local $numbers i32) (local $deepest i32)
    (if (i32.eqz (global.get $remember)) (then (return (call $read (local.get $at) (local.get $level)))))
    (local.set $slot (call $find (local.get $at)))
    (if (local.get $slot)
      (then
        (local.set $deepest (i32.add (local.get $level) (i32.sub (call $levels (local.get $slot)) (i32.const 1))))
        (if (i32.or (i32.gt_u (local.get $deepest) (global.get $LEVELS)) (i32.gt_u (global.get $bytes) (global.get $MOST)))
          (then (return (i32.const 0))))
        (if (i32.gt_u (local.get $deepest) (global.get $deepest)) (then (global.set $deepest (local.get $deepest))))
        (call $add (call $see (local.get $slot)))
        (return (i32.const 1))))
    (local.set $before (global.get $bytes))
    (local.set $numbers (global.get $numbers))
    (local.set $deepest (global.get $deepest))
    (global.set $deepest (local.get $level))
    (if (i32.eqz (call $read (local.get $at) (local.get $level))) (then (return (i32.const 0))))
    ;; where a number is still to be measured, the bytes are not known
    (if (i32.eq (local.get $numbers) (global.get $numbers))
      (then
        (call $put (local.get $at) (i32.sub (global.get $bytes) (local.get $before))
          (i32.add (i32.const 1) (i32.sub (global.get $deepest) (local.get $level))))))
    (if (i32.gt_u (local.get $deepest) (global.get $deepest)) (then (global.set $deepest (local.get $deepest))))
    (i32.const 1))

  ;; Forgets the parts of the view before that are not in the new one: their place in memory will be another's. All that
  ;; is remembered lies in the view before or in the new one, so nothing that is gone stays.
  (func $sweep (param $at i32)
    (local $i i32) (local $count i32) (local $values i32) (local $place i32)
    (if (call $drop (local.get $at)) (then (return)))
    (local.set $count (call $count (local.get $at)))
    (local.set $values (call $values (local.get $at)))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
      (local.set $place (i32.add (local.get $values) (i32.shl (local.get $i) (i32.const 3))))
      (if (i32.eq (i32.load offset=4 (local.get $place)) (global.get $OBJECT))
        (then (call $sweep (i32.load (local.get $place)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next))))
  ;; how many members a list or an object has, deleted ones too, and where their values lie
  (func $count (param $at i32) (result i32)
    (if (result i32) (call $is_list (local.get $at))
      (then (i32.load offset=40 (local.get $at)))
      (else (i32.load offset=32 (i32.load offset=20 (local.get $at))))))
  (func $values (param $at i32) (result i32)
    (if (result i32) (call $is_list (local.get $at))
      (then (i32.load offset=36 (local.get $at)))
      (else (i32.load offset=24 (local.get $at)))))
  (func $is_list (param $at i32) (result i32)
    (i32.eq (i32.shr_u (i32.load offset=4 (local.get $at)) (i32.const 8)) (i32.const 0x020d)))
  (func $is_object (param $at i32) (result i32)
    (i32.eq (i32.shr_u (i32.load offset=4 (local.get $at)) (i32.const 8)) (i32.const 0x0101)))

  ;; Whether the list or object at an address passed, when it was last noted, as record `id` of the schema.
  (func (export "known") (param $value i32) (param $id i32) (result i32)
    (local $slot i32)
    (local.set $slot (call $slot (local.get $value)))
    (if (result i32) (local.get $slot)
      (then (i32.eq (call $tag (local.get $slot)) (local.get $id))) (else (i32.const 0))))
  (func (export "note") (param $value i32) (param $id i32)
    (local $slot i32)
    (local.set $slot (call $slot (local.get $value)))
    (if (local.get $slot) (then (call $set_tag (local.get $slot) (local.get $id)))))
  (func $slot (param $value i32) (result i32)
    (if (result i32) (i32.eq (i32.load offset=4 (local.get $value)) (global.get $OBJECT))
      (then (call $find (i32.load (local.get $value)))) (else (i32.const 0))))
  ;; The members of a list or object that are not known as record `id`: each is put into a list of the page loop's own, which
  ;; holds nulls, and their count is given, -1 where there are too many; `members` then tells how many there are in all.
  (func (export "fresh") (param $value i32) (param $id i32) (param $list i32) (result i32)
    (local $at i32) (local $count i32) (local $values i32) (local $shape i32) (local $into i32) (local $most i32)
    (local $i i32) (local $place i32) (local $slot i32) (local $found i32)
    (global.set $members (i32.const 0))
    (local.set $into (i32.load (local.get $list)))
    (if (i32.eqz (call $is_list (local.get $into))) (then (return (i32.const -1))))
    (local.set $most (call $count (local.get $into)))
    (local.set $into (call $values (local.get $into)))
    (if (i32.ne (i32.load offset=4 (local.get $value)) (global.get $OBJECT)) (then (return (i32.const -1))))
    (local.set $at (i32.load (local.get $value)))
    (if (call $is_object (local.get $at))
      (then (local.set $shape (i32.load offset=20 (local.get $at))))
      (else (if (i32.eqz (call $is_list (local.get $at))) (then (return (i32.const -1))))))
    (local.set $count (call $count (local.get $at)))
    (local.set $values (call $values (local.get $at)))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
      (block $known
        (if (local.get $shape)
          (then
            (br_if $known (i32.eqz (i32.load offset=52
              (i32.add (local.get $shape) (i32.shl (local.get $i) (i32.const 3))))))))
        (global.set $members (i32.add (global.get $members) (i32.const 1)))
        (local.set $place (i32.add (local.get $values) (i32.shl (local.get $i) (i32.const 3))))
        (local.set $slot (call $slot (local.get $place)))
        (if (local.get $slot)
          (then (br_if $known (i32.eq (call $tag (local.get $slot)) (local.get $id)))))
        (if (i32.ge_u (local.get $found) (local.get $most)) (then (return (i32.const -1))))
        ;; one more holds it now, where that is counted: of tags from -9 to -1, not of numbers
        (if (i32.ge_u (i32.load offset=4 (local.get $place)) (i32.const -9))
          (then
            (i32.store (i32.load (local.get $place)) (i32.add (i32.load (i32.load (local.get $place))) (i32.const 1)))))
        (i64.store (i32.add (local.get $into) (i32.shl (local.get $found) (i32.const 3))) (i64.load (local.get $place)))
        (local.set $found (i32.add (local.get $found) (i32.const 1))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (local.get $found))
  (func (export "members") (result i32) (global.get $members))

  ;; the page loop wrote out a number of the block: its text is at an address
  (func (export "learn") (param $text i32) (param $i i32)
    (call $learn (i64.load (call $number (local.get $i))) (local.get $text)))
  (func $number (param $i i32) (result i32)
    (i32.add (i32.add (global.get $block) (i32.shl (global.get $SHAPES) (i32.const 3))) (i32.shl (local.get $i) (i32.const 3))))

  (func $read (param $at i32) (param $level i32) (result i32)
    (local $kind i32) (local $shape i32) (local $count i32) (local $values i32) (local $names i32)
    (if (i32.or (i32.gt_u (local.get $level) (global.get $LEVELS)) (i32.gt_u (global.get $bytes) (global.get $MOST)))
      (then (return (i32.const 0))))
    (if (i32.load offset=16 (local.get $at)) (then (global.set $held (i32.const 1))))
    (local.set $shape (i32.load offset=20 (local.get $at)))
    (local.set $kind (i32.shr_u (i32.load offset=4 (local.get $at)) (i32.const 8)))
    (if (i32.eq (local.get $kind) (i32.const 0x0101))
      (then
        (if (i32.ne (i32.load offset=44 (local.get $shape)) (global.get $prototype)) (then (return (i32.const 0))))
        (local.set $names (call $names (local.get $shape)))
        (if (i32.lt_s (local.get $names) (i32.const 0)) (then (return (i32.const 0))))
        (call $add (i32.add (i32.const 2) (i32.sub (local.get $names) (i32.ne (local.get $names) (i32.const 0)))))
        (local.set $count (i32.load offset=32 (local.get $shape)))
        (local.set $values (i32.load offset=24 (local.get $at))))
      (else
        (if (i32.ne (local.get $kind) (i32.const 0x020d)) (then (return (i32.const 0))))
        (if (i32.ne (local.get $shape) (global.get $list)) (then (return (i32.const 0))))
        (local.set $count (i32.load offset=40 (local.get $at)))
        ;; the length is its only member, and says what lies there
        (if (i64.ne (i64.load (i32.load offset=24 (local.get $at))) (i64.extend_i32_u (local.get $count)))
          (then (return (i32.const 0))))
        (call $add (i32.add (i32.const 1) (select (local.get $count) (i32.const 1) (local.get $count))))
        (local.set $shape (i32.const 0))
        (local.set $values (i32.load offset=36 (local.get $at)))))
    (call $members (local.get $values) (local.get $count) (local.get $shape) (local.get $level)))

  (func $members (param $at i32) (param $count i32) (param $shape i32) (param $level i32) (result i32)
    (local $i i32) (local $low i32) (local $tag i32) (local $place i32)
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
      (local.set $place (i32.add (local.get $at) (i32.shl (local.get $i) (i32.const 3))))
      (local.set $low (i32.load (local.get $place)))
      (local.set $tag (i32.load offset=4 (local.get $place)))
      (block $ok
        (if (i32.eqz (local.get $tag)) (then (call $add (call $whole (local.get $low))) (br $ok)))
        (if (i32.eq (local.get $tag) (i32.const -7))
          (then
            (global.set $half (i32.const 0))
            (call $add (i32.const 2))
            (call $text (local.get $low))
            (br $ok)))
        (if (i32.eq (local.get $tag) (global.get $OBJECT))
          (then
            (if (i32.ne (i32.load (local.get $low)) (i32.const 1)) (then (global.set $held (i32.const 1))))
            (br_if $ok (call $container (local.get $low) (i32.add (local.get $level) (i32.const 1))))
            (return (i32.const 0))))
        (if (i32.eq (local.get $tag) (i32.const 1))
          (then (call $add (select (i32.const 4) (i32.const 5) (local.get $low))) (br $ok)))
        (if (i32.eq (local.get $tag) (i32.const 2)) (then (call $add (i32.const 4)) (br $ok)))
        (if (i32.eq (local.get $tag) (i32.const -6))
          (then
            (global.set $half (i32.const 0))
            (call $add (i32.const 2))
            (br_if $ok (call $rope (local.get $low)))
            (return (i32.const 0))))
        (if (i32.ge_u (i32.add (local.get $tag) (i32.const 9)) (i32.const 17))
          (then (br_if $ok (call $float (local.get $place))) (return (i32.const 0))))
        ;; where a member was deleted its value is undefined, and it has no name
        (if (local.get $shape)
          (then
            (if (i32.eq (local.get $tag) (i32.const 3))
              (then (br_if $ok (i32.eqz
                (i32.load offset=52 (i32.add (local.get $shape) (i32.shl (local.get $i) (i32.const 3))))))))))
        (return (i32.const 0)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (i32.const 1))

  ;; the bytes of a shape's names, each with its quotes, a colon and a comma; -1 where a member is hidden, fixed or asked
  ;; for by a function, or its name is a symbol. Remembered, during one reading: thousands of objects have one shape.
  (func $names (param $shape i32) (result i32)
    (local $slot i32) (local $i i32) (local $at i32) (local $name i32) (local $before i32) (local $sum i32)
    (local.set $slot (i32.add (global.get $block)
      (i32.shl (i32.and (i32.shr_u (local.get $shape) (i32.const 4)) (i32.sub (global.get $SHAPES) (i32.const 1)))
               (i32.const 3))))
    (if (i32.eq (i32.load (local.get $slot)) (local.get $shape)) (then (return (i32.load offset=4 (local.get $slot)))))
    (local.set $before (global.get $bytes))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (i32.load offset=32 (local.get $shape))))
      (local.set $at (i32.add (local.get $shape) (i32.shl (local.get $i) (i32.const 3))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (local.set $name (i32.load offset=52 (local.get $at)))
      (br_if $next (i32.eqz (local.get $name)))
      ;; enumerable, writable, configurable, and nothing else
      (if (i32.ne (i32.shr_u (i32.load offset=48 (local.get $at)) (i32.const 26)) (i32.const 7))
        (then (global.set $bytes (local.get $before)) (return (i32.const -1))))
      (call $add (i32.const 4))
      (if (i32.lt_s (local.get $name) (i32.const 0))
        (then (call $add (call $digits (i64.extend_i32_u (i32.and (local.get $name) (i32.const 0x7fffffff))))) (br $next)))
      (local.set $name (i32.load (i32.add (i32.load (global.get $atoms)) (i32.shl (local.get $name) (i32.const 2)))))
      (if (i32.ne (i32.shr_u (i32.load offset=8 (local.get $name)) (i32.const 30)) (i32.const 1))
        (then (global.set $bytes (local.get $before)) (return (i32.const -1))))
      (global.set $half (i32.const 0))
      (call $text (local.get $name))
      (br $next)))
    (local.set $sum (i32.sub (global.get $bytes) (local.get $before)))
    (global.set $bytes (local.get $before))
    (i32.store (local.get $slot) (local.get $shape))
    (i32.store offset=4 (local.get $slot) (local.get $sum))
    (local.get $sum))

  (func $digits (param $n i64) (result i32)
    (local $count i32)
    (loop $next
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (local.set $n (i64.div_u (local.get $n) (i64.const 10)))
      (br_if $next (i64.ne (local.get $n) (i64.const 0))))
    (local.get $count))

  (func $whole (param $n i32) (result i32)
    (if (i32.lt_u (local.get $n) (i32.const 10)) (then (return (i32.const 1))))
    (if (i32.lt_u (local.get $n) (i32.const 100)) (then (return (i32.const 2))))
    (if (result i32) (i32.lt_s (local.get $n) (i32.const 0))
      (then (i32.add (i32.const 1) (call $digits (i64.sub (i64.const 0) (i64.extend_i32_s (local.get $n))))))
      (else (call $digits (i64.extend_i32_u (local.get $n))))))

  ;; A number that is whole, or has few decimals, is measured here: up to 15 digits the shortest text that reads back as it
  ;; is the one with the fewest decimals. The page loop writes out the others, from the block.
  (func $float (param $at i32) (result i32)
    (local $value f64) (local $size f64) (local $power f64) (local $n f64) (local $decimals i32)
    (local.set $value (f64.reinterpret_i64 (i64.add (i64.load (local.get $at))
      (i64.shl (i64.extend_i32_u (global.get $FLOAT)) (i64.const 32)))))
    (local.set $size (f64.abs (local.get $value)))
    ;; neither infinite nor no number; and 0 is no float: this one is -0
    (if (i32.eqz (f64.lt (local.get $size) (f64.const inf))) (then (return (i32.const 0))))
    (if (f64.eq (local.get $size) (f64.const 0))
      (then
        (call $add (i32.const 1))
        (return (i64.eqz (i64.reinterpret_f64 (local.get $value))))))
    (if (i32.and (f64.lt (local.get $size) (f64.const 1e15)) (f64.ge (local.get $size) (f64.const 1e-6)))
      (then
        (local.set $power (f64.const 1))
        (block $no (loop $next
          (local.set $n (f64.nearest (f64.mul (local.get $size) (local.get $power))))
          (br_if $no (f64.ge (local.get $n) (f64.const 1e15)))
          (if (f64.eq (f64.div (local.get $n) (local.get $power)) (local.get $size))
            (then
              (call $add (call $digits (i64.trunc_f64_u (local.get $size))))
              (call $add (f64.lt (local.get $value) (f64.const 0)))
              (if (local.get $decimals) (then (call $add (i32.add (i32.const 1) (local.get $decimals)))))
              (return (i32.const 1))))
          (local.set $power (f64.mul (local.get $power) (f64.const 10)))
          (local.set $decimals (i32.add (local.get $decimals) (i32.const 1)))
          (br_if $next (i32.le_u (local.get $decimals) (i32.const 9)))))))
    (local.set $decimals (call $length (i64.reinterpret_f64 (local.get $value))))
    (if (local.get $decimals) (then (call $add (local.get $decimals)) (return (i32.const 1))))
    (if (i32.ge_u (global.get $numbers) (global.get $FLOATS)) (then (return (i32.const 0))))
    (f64.store (call $number (global.get $numbers)) (local.get $value))
    (global.set $numbers (i32.add (global.get $numbers) (i32.const 1)))
    (i32.const 1))

  (func $rope (param $at i32) (result i32)
    (if (i32.eqz (call $piece (i32.add (local.get $at) (i32.const 16)))) (then (return (i32.const 0))))
    (call $piece (i32.add (local.get $at) (i32.const 24))))
  (func $piece (param $value i32) (result i32)
    (if (i32.eq (i32.load offset=4 (local.get $value)) (i32.const -6))
      (then (return (call $rope (i32.load (local.get $value))))))
    (if (i32.ne (i32.load offset=4 (local.get $value)) (i32.const -7)) (then (return (i32.const 0))))
    (call $text (i32.load (local.get $value)))
    (i32.const 1))

  ;; the bytes of a text in JSON, without the quotes: most of it sixteen bytes at a time
  (func $text (param $text i32)
    (local $at i32) (local $end i32) (local $length i32) (local $sum i32)
    (local.set $length (i32.and (i32.load offset=4 (local.get $text)) (i32.const 0x7fffffff)))
    (local.set $at (i32.add (local.get $text) (i32.const 16)))
    (if (i32.eqz (local.get $length)) (then (return)))
    (if (i32.ge_s (i32.load offset=4 (local.get $text)) (i32.const 0))
      (then
        (global.set $half (i32.const 0))
        (local.set $end (i32.add (local.get $at) (local.get $length)))
        (block $tail (loop $next
          (br_if $tail (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
          (local.set $sum (i32.add (local.get $sum) (call $sixteen (v128.load (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next)))
        (block $done (loop $next
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (local.set $sum (i32.add (local.get $sum) (call $unit (i32.load8_u (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
      (else
        (local.set $end (i32.add (local.get $at) (i32.shl (local.get $length) (i32.const 1))))
        (block $done (loop $next
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (if (i32.and (i32.le_u (i32.add (local.get $at) (i32.const 16)) (local.get $end))
                       (i32.eqz (call $halves (v128.load (local.get $at)))))
            (then
              (global.set $half (i32.const 0))
              (local.set $sum (i32.add (local.get $sum) (call $eight (v128.load (local.get $at)))))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br $next)))
          (local.set $sum (i32.add (local.get $sum) (call $unit (i32.load16_u (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (i32.const 2)))
          (br $next)))))
    (call $add (local.get $sum)))

  ;; sixteen units of Latin-1: one byte each, and one more for each that takes two, five more for each that takes six
  (func $sixteen (param $x v128) (result i32)
    (local $below v128) (local $short v128)
    (local.set $below (i8x16.lt_u (local.get $x) (i8x16.splat (i32.const 0x20))))
    (local.set $short (v128.andnot
      (i8x16.lt_u (i8x16.sub (local.get $x) (i8x16.splat (i32.const 8))) (i8x16.splat (i32.const 6)))
      (i8x16.eq (local.get $x) (i8x16.splat (i32.const 11)))))
    (i32.add (i32.const 16)
      (i32.add
        (i32.popcnt (i8x16.bitmask
          (v128.or (v128.or (local.get $short) (local.get $x))
            (v128.or (i8x16.eq (local.get $x) (i8x16.splat (i32.const 0x22)))
                     (i8x16.eq (local.get $x) (i8x16.splat (i32.const 0x5c)))))))
        (i32.mul (i32.const 5)
          (i32.popcnt (i8x16.bitmask (v128.andnot (local.get $below) (local.get $short))))))))

  ;; eight units of UTF-16, none of them half of a pair; three bytes from U+0800 on
  (func $eight (param $x v128) (result i32)
    (local $below v128) (local $short v128)
    (local.set $below (i16x8.lt_u (local.get $x) (i16x8.splat (i32.const 0x20))))
    (local.set $short (v128.andnot
      (i16x8.lt_u (i16x8.sub (local.get $x) (i16x8.splat (i32.const 8))) (i16x8.splat (i32.const 6)))
      (i16x8.eq (local.get $x) (i16x8.splat (i32.const 11)))))
    (i32.add (i32.add (i32.const 8)
        (i32.popcnt (i16x8.bitmask (i16x8.ge_u (local.get $x) (i16x8.splat (i32.const 0x800))))))
      (i32.add
        (i32.popcnt (i16x8.bitmask
          (v128.or (v128.or (local.get $short) (i16x8.ge_u (local.get $x) (i16x8.splat (i32.const 0x80))))
            (v128.or (i16x8.eq (local.get $x) (i16x8.splat (i32.const 0x22)))
                     (i16x8.eq (local.get $x) (i16x8.splat (i32.const 0x5c)))))))
        (i32.mul (i32.const 5)
          (i32.popcnt (i16x8.bitmask (v128.andnot (local.get $below) (local.get $short))))))))
  (func $halves (param $x v128) (result i32)
    (v128.any_true (i16x8.eq (v128.and (local.get $x) (i16x8.splat (i32.const 0xf800)))
                             (i16x8.splat (i32.const 0xd800)))))

  (func $ascii (param $unit i32) (result i32)
    (if (i32.lt_u (local.get $unit) (i32.const 0x20))
      (then
        ;; \b \t \n \f \r
        (return (select (i32.const 2) (i32.const 6)
          (i32.and (i32.shr_u (i32.const 0x3700) (local.get $unit)) (i32.const 1))))))
    (i32.add (i32.const 1)
      (i32.or (i32.eq (local.get $unit) (i32.const 0x22)) (i32.eq (local.get $unit) (i32.const 0x5c)))))

  (func $unit (param $unit i32) (result i32)
    (local $after i32)
    (local.set $after (global.get $half))
    (global.set $half (i32.const 0))
    (if (i32.lt_u (local.get $unit) (i32.const 0x80)) (then (return (call $ascii (local.get $unit)))))
    (if (i32.lt_u (local.get $unit) (i32.const 0x800)) (then (return (i32.const 2))))
    ;; half a pair alone is written as \ud83d; a pair takes 4 bytes
    (if (i32.eq (i32.and (local.get $unit) (i32.const 0xfc00)) (i32.const 0xd800))
      (then (global.set $half (i32.const 1)) (return (i32.const 6))))
    (if (i32.eq (i32.and (local.get $unit) (i32.const 0xfc00)) (i32.const 0xdc00))
      (then (return (select (i32.const -2) (i32.const 6) (local.get $after)))))
    (i32.const 3)))
