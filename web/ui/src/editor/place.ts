/** One step of a way into values: a key, or null for the items of a list. */
export type Step = string | null;

/** Where in the values somebody writes. */
export interface Place {
  /** `key`: a key of the mapping at `path`; `value`: the value at `path`. */
  kind: 'key' | 'value';
  path: Step[];
  /** What stands there already, before the cursor. */
  word: string;
  /** How far the keys there are indented. */
  indent: number;
}

/** One line of block YAML: the columns of its dashes, and its key. */
interface Line {
  dashes: number[];
  column: number;
  key?: string;
  /** What stands behind the key and its colon; without a key, all of it. */
  rest: string;
}

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#'"{}[\]&*!|>%@`,?:-][^#:]*?|-[^\s#:][^#:]*?))\s*:(?:\s+|$)/;

/** Reads one line; null for one that is empty, or a comment. */
function readLine(text: string): Line | null {
  const dashes: number[] = [];
  let column = /^ */.exec(text)?.[0].length ?? 0;
  for (let dash = /^-(?: +|$)/.exec(text.slice(column)); dash; dash = /^-(?: +|$)/.exec(text.slice(column))) {
    dashes.push(column);
    column += dash[0].length;
  }
  const content = text.slice(column);
  if (dashes.length === 0 && (content === '' || content.startsWith('#'))) {
    return null;
  }
  const key = KEY.exec(content);
  if (!key) {
    return { dashes, column, rest: content };
  }
  return { dashes, column, key: key[1] ?? key[2]?.replaceAll("''", "'") ?? key[3] ?? '', rest: content.slice(key[0].length) };
}

/**
 * Tells where the end of `lines` is, by indentation, so that it works while the
 * text is no YAML yet. Null where nothing can be said: in a comment, in a text
 * block, in `{}` and `[]`.
 */
export function placeAt(lines: readonly string[]): Place | null {
  const text = lines.at(-1) ?? '';
  if (/(?:^|\s)#/.test(text)) {
    return null;
  }
  const line = readLine(text) ?? { dashes: [], column: text.length, rest: '' };
  if (/^[{[|>&*!]/.test(line.rest)) {
    return null;
  }
  const above = wayTo(line, lines.slice(0, -1));
  if (!above) {
    return null;
  }
  // "key:" with nothing behind it is still the word that is being written.
  if (line.key !== undefined && /:\s/.test(text.slice(line.column))) {
    return { kind: 'value', path: [...above, line.key], word: line.rest, indent: line.column };
  }
  return { kind: 'key', path: above, word: text.slice(line.column), indent: line.column };
}

/** The way to the key that stands on the last of `lines`, its own name included. */
export function keyAt(lines: readonly string[]): Step[] | null {
  const line = readLine(lines.at(-1) ?? '');
  if (line?.key === undefined) {
    return null;
  }
  const above = wayTo(line, lines.slice(0, -1));
  return above && [...above, line.key];
}

/** The way to the mapping or list in which a line's content stands; null inside a text block. */
function wayTo(line: Line, above: readonly string[]): Step[] | null {
  const way: Step[] = [];
  let limit = line.column;
  // A list may be indented as far as the key that it belongs to.
  let inList = false as boolean;
  const enterLists = (dashes: readonly number[]) => {
    for (const dash of [...dashes].reverse()) {
      if (dash < limit) {
        way.unshift(null);
        limit = dash;
        inList = true;
      }
    }
  };
  enterLists(line.dashes);
  for (let i = above.length - 1; i >= 0 && (limit > 0 || inList); i--) {
    const each = readLine(above[i] ?? '');
    if (!each) {
      continue;
    }
    if (each.key !== undefined && (each.column < limit || (inList && each.column === limit))) {
      if (/^[|>]/.test(each.rest)) {
        return null;
      }
      way.unshift(each.key);
      limit = each.column;
      inList = false;
    }
    enterLists(each.dashes);
  }
  return way;
}
