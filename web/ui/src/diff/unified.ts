/** One line of a unified diff. A fold stands for omitted unchanged lines. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'fold';
  text: string;
  /** Its line numbers in the old and new text, where it exists. */
  before?: number;
  after?: number;
}

/** Parses a unified diff without its header. */
export function parseUnified(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inHunk = false;
  for (const line of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      if (inHunk || Math.max(before, after) > 1) {
        lines.push({ kind: 'fold', text: '' });
      }
      inHunk = true;
    } else if (inHunk) {
      const text = line.slice(1);
      if (line.startsWith('+')) {
        lines.push({ kind: 'added', text, after: after++ });
      } else if (line.startsWith('-')) {
        lines.push({ kind: 'removed', text, before: before++ });
      } else if (line.startsWith(' ')) {
        lines.push({ kind: 'same', text, before: before++, after: after++ });
      }
    }
  }
  return lines;
}

/** Two lines side by side; null for none. */
export type Pair = [DiffLine | null, DiffLine | null];

/** Pairs removed lines with the added lines that replace them. */
export function sideBySide(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      pairs.push([removed[i] ?? null, added[i] ?? null]);
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') {
      if (added.length > 0) {
        flush();
      }
      removed.push(line);
    } else if (line.kind === 'added') {
      added.push(line);
    } else {
      flush();
      pairs.push([line, line]);
    }
  }
  flush();
  return pairs;
}
