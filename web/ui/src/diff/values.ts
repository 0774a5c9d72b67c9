import type { Schemas } from '../api/client';

export type ValueChange = Schemas['ValueChange'];

/** Compares two sets of values by path, as the server does. The order of keys does not matter. */
export function valueChanges(before: unknown, after: unknown, path = ''): ValueChange[] {
  if (isMapping(before) && isMapping(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => childChanges(before, after, key, join(path, key)));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => i).flatMap((i) => childChanges(before, after, String(i), `${path}[${i}]`));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, change: 'changed', from: before as ValueChange['from'], to: after as ValueChange['to'] }];
}

type Keyed = Record<string, unknown>;

function childChanges(before: unknown, after: unknown, key: string, path: string): ValueChange[] {
  const had = Object.hasOwn(before as object, key);
  const has = Object.hasOwn(after as object, key);
  const from = (before as Keyed)[key];
  const to = (after as Keyed)[key];
  if (had && has) {
    return valueChanges(from, to, path);
  }
  return [{ path, change: had ? 'removed' : 'added', from: (had ? from : null) as ValueChange['from'], to: (has ? to : null) as ValueChange['to'] }];
}

/** Appends a key to a path, in brackets if it would be ambiguous. */
function join(path: string, key: string): string {
  if (key === '' || /[.[\]"]/.test(key)) {
    return `${path}[${JSON.stringify(key)}]`;
  }
  return path === '' ? key : `${path}.${key}`;
}

const isMapping = (value: unknown): value is Keyed => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Formats a value on one line: text without quotes unless it looks like another type. */
export const asText = (value: unknown) => (typeof value === 'string' && !/^(|true|false|null|[-+]?[.\d][\d.eE+-]*|[[{].*)$/.test(value) ? value : JSON.stringify(value));
