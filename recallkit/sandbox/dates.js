// Dates as the formats allow them (computation, The sandbox): the moment is given from outside, and nothing reads a time zone.
// An expression: (clock) => undefined. It replaces the global Date; `clock.moment` is what new Date() reads, in milliseconds.
(clock) => {
  'use strict';
  const { apply, construct, ownKeys, deleteProperty, defineProperty } = Reflect;
  const { TypeError, Date: NativeDate } = globalThis;
  const prototype = NativeDate.prototype;
  const { getTime, [Symbol.toPrimitive]: toPrimitive } = prototype;
  const { parse: nativeParse, UTC } = NativeDate;
  const exec = RegExp.prototype.exec;
  // A date alone, or a date and a time that names its offset. The engine decides what is a month, a day and an hour.
  const grammar = /^(?:\d{4}|[+-]\d{6})(?:-\d\d(?:-\d\d)?)?(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
  const remedy = 'use Date.UTC, toISOString and the getUTC and setUTC methods';

  const readText = (text) => {
    const time = apply(exec, grammar, [text]) === null ? NaN : nativeParse(text);
    if (time !== time) {
      throw new TypeError('a date is text such as 2026-01-01, or a date and time with its offset such as 2026-01-01T09:00:00Z');
    }
    return time;
  };
  const read = (value) => {
    if (typeof value === 'number') return value;
    if (typeof value === 'string') return readText(value);
    if (typeof value === 'object' && value !== null) {
      try {
        return apply(getTime, value, []);
      } catch {
        // Not a date: refused below, as any other object.
      }
    }
    throw new TypeError('a date is made from a number, a text or a date');
  };

  function Date(...values) {
    if (new.target === undefined) throw new TypeError(`Date without new reads the local time zone; ${remedy}`);
    if (values.length > 1) throw new TypeError(`a date from several numbers reads the local time zone; ${remedy}`);
    return construct(NativeDate, [values.length === 0 ? clock.moment : read(values[0])], new.target);
  }
  const methods = {
    now() {
      return clock.moment;
    },
    parse(text) {
      if (typeof text !== 'string') throw new TypeError('Date.parse reads a text');
      return readText(text);
    },
    UTC,
    toString() {
      throw new TypeError(`a date as text reads the local time zone; ${remedy}`);
    },
    [Symbol.toPrimitive](hint) {
      if (hint === 'number') return apply(toPrimitive, this, [hint]);
      throw new TypeError(`a date as text reads the local time zone; ${remedy}`);
    },
  };
  const hidden = (object, key, value, writable = true) =>
    defineProperty(object, key, { value, writable, enumerable: false, configurable: writable });

  defineProperty(Date, 'length', { value: 7 });
  for (const name of ['now', 'parse', 'UTC']) hidden(Date, name, methods[name]);
  hidden(Date, 'prototype', prototype, false);

  // What stays reads no time zone; every other member of the prototype goes, so that a cast finds nothing more.
  const kept = { __proto__: null, constructor: 1, valueOf: 1, toString: 1, toJSON: 1, getTime: 1, setTime: 1, toISOString: 1 };
  const utc = /UTC|GMT/;
  for (const key of ownKeys(prototype)) {
    if (typeof key === 'string' && !(key in kept) && apply(exec, utc, [key]) === null) deleteProperty(prototype, key);
  }
  hidden(prototype, 'constructor', Date);
  hidden(prototype, 'toString', methods.toString);
  defineProperty(prototype, Symbol.toPrimitive, { value: methods[Symbol.toPrimitive], writable: false, enumerable: false, configurable: true });
  hidden(globalThis, 'Date', Date);
}
