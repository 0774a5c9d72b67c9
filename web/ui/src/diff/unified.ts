/** One line of a unified diff. A fold stands for lines that are the same and left out. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'fold';
  text: string;
  /** Its number in the old and in the new text, where it stands there. */
  before?: number;
  after?: number;
}

/** Reads a unified diff; what stands before its first hunk is left out. */
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

/** Two lines that stand beside each other; null where there is none. */
export type Pair = [DiffLine | null, DiffLine | null];

/** Puts removed lines beside the added ones that replace them. */
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
