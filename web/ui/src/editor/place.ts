/** One step of a path into values: a key, or null for the items of a list. */
export type Step = string | null;

/** The position of the cursor in the values. */
export interface Place {
  /** `key`: a key of the mapping at `path`; `value`: the value at `path`. */
  kind: 'key' | 'value';
  path: Step[];
  /** The word before the cursor. */
  word: string;
  /** The indentation of the keys at this place. */
  indent: number;
}

/** One line of block YAML: the columns of its dashes, and its key. */
interface Line {
  dashes: number[];
  column: number;
  key?: string;
  /** The text after the key and its colon; without a key, the whole text. */
  rest: string;
}

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#'"{}[\]&*!|>%@`,?:-][^#:]*?|-[^\s#:][^#:]*?))\s*:(?:\s+|$)/;

/** Parses one line. Returns null for an empty line or a comment. */
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
 * Returns the place at the end of `lines`. It is derived from the indentation, so
 * that it works before the text is valid YAML. Null in comments, text blocks, `{}`
 * and `[]`.
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
  // "key:" without a value is still the word being typed.
  if (line.key !== undefined && /:\s/.test(text.slice(line.column))) {
    return { kind: 'value', path: [...above, line.key], word: line.rest, indent: line.column };
  }
  return { kind: 'key', path: above, word: text.slice(line.column), indent: line.column };
}

/** The path of the key on the last of `lines`. */
export function keyAt(lines: readonly string[]): Step[] | null {
  const line = readLine(lines.at(-1) ?? '');
  if (line?.key === undefined) {
    return null;
  }
  const above = wayTo(line, lines.slice(0, -1));
  return above && [...above, line.key];
}

/** The path of the mapping or list that contains a line; null inside a text block. */
function wayTo(line: Line, above: readonly string[]): Step[] | null {
  const way: Step[] = [];
  let limit = line.column;
  // A list may have the same indentation as its key.
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
