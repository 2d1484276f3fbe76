;; What is remembered of the lists and objects of a view, by their address in the engine's memory: in memory of its own,
;; beside the sandbox's. measure.wat puts down what it read, and takes away what left the view.
;;
;;   slot    16 bytes: address, bytes of its JSON text, the reading that met it last, 10 bits of its levels and 22 of the
;;           schema's record that it passed as; an address of 0: empty. A slot is named by where it lies.
(module
  (memory 3)
  (global $TABLE i32 (i32.const 0x10000))
  (global $FIRST i32 (i32.const 13))           ;; from 8,192 slots to more than the parts that fit a view
  (global $LAST i32 (i32.const 19))
  (global $TAGS i32 (i32.const 0x3fffff))

  (global $bits (mut i32) (i32.const 13))      ;; there are two to the power of this many slots
  (global $used (mut i32) (i32.const 0))
  (global $now (mut i32) (i32.const 0))
  (global $full (mut i32) (i32.const 0))

  (func (export "begin")
    (global.set $now (i32.add (global.get $now) (i32.const 1)))
    (global.set $full (i32.const 0)))
  (func $forget (export "forget")
    (if (global.get $used)
      (then (memory.fill (global.get $TABLE) (i32.const 0) (i32.shl (i32.const 16) (global.get $bits)))))
    (global.set $used (i32.const 0)))
  ;; whether the last reading found no place for a part; then there are more places now, all empty, for another reading
  (func (export "full") (result i32)
    (if (i32.eqz (global.get $full)) (then (return (i32.const 0))))
    (call $forget)
    (if (i32.ge_u (global.get $bits) (global.get $LAST)) (then (return (i32.const 0))))
    (if (i32.eq (memory.grow (i32.shl (i32.const 1) (i32.sub (global.get $bits) (i32.const 10))))
                (i32.const -1))
      (then (return (i32.const 0))))
    (global.set $bits (i32.add (global.get $bits) (i32.const 2)))
    (i32.const 1))

  (func $slot (param $index i32) (result i32)
    (i32.add (global.get $TABLE)
      (i32.shl (i32.and (local.get $index) (i32.sub (i32.shl (i32.const 1) (global.get $bits)) (i32.const 1)))
               (i32.const 4))))
  (func $home (param $at i32) (result i32)
    (i32.shr_u (i32.mul (local.get $at) (i32.const 0x9e3779b1)) (i32.sub (i32.const 32) (global.get $bits))))

  ;; the slot of an address; 0: nothing is known of it
  (func $find (export "find") (param $at i32) (result i32)
    (local $index i32) (local $slot i32) (local $there i32)
    (local.set $index (call $home (local.get $at)))
    (loop $next
      (local.set $slot (call $slot (local.get $index)))
      (local.set $there (i32.load (local.get $slot)))
      (if (i32.eq (local.get $there) (local.get $at)) (then (return (local.get $slot))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (local.get $there)))
    (i32.const 0))
  ;; its bytes; the present reading has met it
  (func (export "see") (param $slot i32) (result i32)
    (i32.store offset=8 (local.get $slot) (global.get $now))
    (i32.load offset=4 (local.get $slot)))
  (func (export "levels") (param $slot i32) (result i32)
    (i32.shr_u (i32.load offset=12 (local.get $slot)) (i32.const 22)))
  (func (export "tag") (param $slot i32) (result i32)
    (i32.and (i32.load offset=12 (local.get $slot)) (global.get $TAGS)))
  (func (export "set_tag") (param $slot i32) (param $id i32)
    (if (i32.gt_u (local.get $id) (global.get $TAGS)) (then (return)))
    (i32.store offset=12 (local.get $slot)
      (i32.or (i32.and (i32.load offset=12 (local.get $slot)) (i32.xor (global.get $TAGS) (i32.const -1)))
              (local.get $id))))
  (func (export "put") (param $at i32) (param $bytes i32) (param $levels i32)
    (local $index i32) (local $slot i32)
    ;; at most three quarters, so that a search is short
    (if (i32.ge_u (global.get $used) (i32.mul (i32.const 3) (i32.shr_u (i32.shl (i32.const 1) (global.get $bits)) (i32.const 2))))
      (then (global.set $full (i32.const 1)) (return)))
    (local.set $index (call $home (local.get $at)))
    (loop $next
      (local.set $slot (call $slot (local.get $index)))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.load (local.get $slot))))
    (i32.store (local.get $slot) (local.get $at))
    (i32.store offset=4 (local.get $slot) (local.get $bytes))
    (i32.store offset=8 (local.get $slot) (global.get $now))
    (i32.store offset=12 (local.get $slot) (i32.shl (local.get $levels) (i32.const 22)))
    (global.set $used (i32.add (global.get $used) (i32.const 1))))
  ;; forgets an address, unless the present reading met it: then 1. What was put past its slot moves up.
  (func (export "drop") (param $at i32) (result i32)
    (local $slot i32) (local $hole i32) (local $index i32) (local $home i32) (local $mask i32)
    (local.set $slot (call $find (local.get $at)))
    (if (i32.eqz (local.get $slot)) (then (return (i32.const 0))))
    (if (i32.eq (i32.load offset=8 (local.get $slot)) (global.get $now)) (then (return (i32.const 1))))
    (global.set $used (i32.sub (global.get $used) (i32.const 1)))
    (local.set $mask (i32.sub (i32.shl (i32.const 1) (global.get $bits)) (i32.const 1)))
    (local.set $hole (i32.shr_u (i32.sub (local.get $slot) (global.get $TABLE)) (i32.const 4)))
    (local.set $index (local.get $hole))
    (block $done (loop $next
      (local.set $index (i32.and (i32.add (local.get $index) (i32.const 1)) (local.get $mask)))
      (local.set $slot (call $slot (local.get $index)))
      (br_if $done (i32.eqz (i32.load (local.get $slot))))
      (local.set $home (call $home (i32.load (local.get $slot))))
      ;; it stays where its home lies between the hole and itself
      (br_if $next (i32.lt_u (i32.and (i32.sub (local.get $index) (local.get $home)) (local.get $mask))
                             (i32.and (i32.sub (local.get $index) (local.get $hole)) (local.get $mask))))
      (memory.copy (call $slot (local.get $hole)) (local.get $slot) (i32.const 16))
      (local.set $hole (local.get $index))
      (br $next)))
    (memory.fill (call $slot (local.get $hole)) (i32.const 0) (i32.const 16))
    (i32.const 0)))
