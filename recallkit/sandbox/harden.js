// What a document may reach (computation, The sandbox). An expression: (options, makeDates) => control.
// Called once in a fresh context, before the document's module is evaluated:
//   options    {frozen, moment}: whether freeze() will be called, and what the clock says first
//   makeDates  the function of dates.js
//   control    {setMoment(ms), freeze(...roots)}: freeze after the module was evaluated, with its namespace as a root
(options, makeDates) => {
  'use strict';
  const { apply, ownKeys, deleteProperty, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Reflect;
  const { freeze, hasOwn } = Object;
  const { TypeError, Set, Object: NativeObject, Promise: NativePromise } = globalThis;
  const { has: setHas, add: setAdd } = Set.prototype;

  const allowed = { __proto__: null };
  for (const name of (
    'AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError Float16Array ' +
    'Float32Array Float64Array Infinity Int8Array Int16Array Int32Array InternalError Iterator JSON Map Math NaN Number Object ' +
    'Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError ' +
    'Uint8Array Uint16Array Uint32Array Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI ' +
    'encodeURIComponent escape unescape globalThis isFinite isNaN parseFloat parseInt undefined'
  ).split(' ')) {
    allowed[name] = true;
  }

  // Intrinsics that no property leads to, each reached from a value of its kind.
  const unnamed = [];
  const note = (object) => {
    while (object !== null && object !== NativeObject.prototype) {
      unnamed[unnamed.length] = object;
      object = getPrototypeOf(object);
    }
  };
  const functions = [function () {}, function* () {}, async function () {}, async function* () {}];
  const iterator = [][Symbol.iterator]();
  for (const value of [
    ...functions, functions[1].prototype, functions[3].prototype, iterator, new Map().entries(), new Set().values(), ''[Symbol.iterator](),
    ''.matchAll(/a/g), iterator.map(() => 0), NativeObject.getPrototypeOf(Uint8Array), Iterator.from({ next() {} }), Iterator.from(''),
    Iterator.concat(), NativePromise.prototype,
  ]) {
    note(getPrototypeOf(value));
  }
  note(NativePromise.prototype);

  // No code is made from text: nothing leads to the constructors of functions, plain, generator or async.
  for (const made of functions) {
    const prototype = getPrototypeOf(made);
    deleteProperty(prototype, 'constructor');
    if (prototype.prototype) deleteProperty(prototype.prototype, 'constructor');
  }
  deleteProperty(NativePromise.prototype, 'constructor');
  deleteProperty(Math, 'random');
  const clock = { __proto__: null, moment: options.moment };
  makeDates(clock);
  for (const key of ownKeys(globalThis)) {
    if (typeof key === 'string' && !(key in allowed)) deleteProperty(globalThis, key);
  }

  // Every object that something reaches from the roots by members, accessors and prototypes.
  const reach = (roots) => {
    const seen = new Set();
    const found = [];
    const add = (value) => {
      if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return;
      if (apply(setHas, seen, [value])) return;
      apply(setAdd, seen, [value]);
      found[found.length] = value;
    };
    for (let i = 0; i < roots.length; i++) add(roots[i]);
    for (let i = 0; i < found.length; i++) {
      const object = found[i];
      add(getPrototypeOf(object));
      const keys = ownKeys(object);
      for (let k = 0; k < keys.length; k++) {
        const member = getOwnPropertyDescriptor(object, keys[k]);
        add(member.value);
        add(member.get);
        add(member.set);
      }
    }
    return found;
  };

  // A frozen member of a prototype would refuse the same name on what inherits it ("view.constructor = 1"): as an
  // accessor, its setter gives the object a member of its own, as an assignment would before the freezing.
  const yieldTo = (holder, key) => {
    const member = getOwnPropertyDescriptor(holder, key);
    if (member === undefined || !('value' in member) || !member.configurable) return;
    const { value } = member;
    const accessor = {
      get() {
        return value;
      },
      set(given) {
        if (this === holder || (typeof this !== 'object' && typeof this !== 'function') || this === null) {
          throw new TypeError(`'${typeof key === 'symbol' ? 'a symbol' : key}' is read-only`);
        }
        const made = hasOwn(this, key)
          ? { value: given }
          : { value: given, writable: true, enumerable: true, configurable: true };
        if (!defineProperty(this, key, made)) throw new TypeError('object is not extensible');
      },
    };
    freeze(accessor.get);
    freeze(accessor.set);
    defineProperty(holder, key, { get: accessor.get, set: accessor.set, enumerable: member.enumerable, configurable: true });
  };
  const yielding = (objects) => {
    const prototypes = new Set();
    for (let i = 0; i < objects.length; i++) {
      const above = getPrototypeOf(objects[i]);
      if (typeof above === 'object' && above !== null) apply(setAdd, prototypes, [above]);
      const below = typeof objects[i] === 'function' ? getOwnPropertyDescriptor(objects[i], 'prototype') : undefined;
      if (below !== undefined && typeof below.value === 'object' && below.value !== null) apply(setAdd, prototypes, [below.value]);
    }
    for (let i = 0; i < objects.length; i++) {
      const object = objects[i];
      if (object === NativeObject.prototype) {
        const keys = ownKeys(object);
        for (let k = 0; k < keys.length; k++) yieldTo(object, keys[k]);
      } else if (apply(setHas, prototypes, [object])) {
        yieldTo(object, 'constructor');
        yieldTo(object, 'name');
        yieldTo(object, 'message');
      }
    }
  };

  return freeze({
    __proto__: null,
    setMoment(moment) {
      clock.moment = moment;
    },
    // Nothing a fold writes outside its view reaches the next fold: everything it can reach without its arguments is
    // frozen. A root that is a module's namespace is walked, not frozen: it is read-only already, and out of reach.
    freeze(...roots) {
      const namespaces = new Set();
      const starts = [globalThis];
      for (let i = 0; i < unnamed.length; i++) starts[starts.length] = unnamed[i];
      for (let i = 0; i < roots.length; i++) {
        const root = roots[i];
        if (typeof root === 'object' && root !== null && root[Symbol.toStringTag] === 'Module') apply(setAdd, namespaces, [root]);
        starts[starts.length] = root;
      }
      const objects = reach(starts);
      yielding(objects);
      for (let i = 0; i < objects.length; i++) {
        if (!apply(setHas, namespaces, [objects[i]])) freeze(objects[i]);
      }
    },
  });
}
