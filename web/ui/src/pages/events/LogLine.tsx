import { memo, type ReactNode } from 'react';
import type { Line } from '../../session/state';
import { lineText, type Writer } from './lineText';
import styles from './log.module.css';
import { timeOfDay } from './timeOfDay';

interface LogLineProps extends Writer {
  line: Line;
  /** The search text, "" for none. */
  search: string;
}

/** One log line with its time of day. It is rendered once, since lines never change. */
export const LogLine = memo(
  function LogLine({ line, search, ...writer }: LogLineProps) {
    return (
      <div className={styles.line} data-type={line.type}>
        <time className={styles.time} dateTime={line.time}>
          {timeOfDay(line.time)}
        </time>
        <span className={styles.text}>{marked(lineText(line, writer), search)}</span>
      </div>
    );
  },
  (before, after) => before.line === after.line && before.language === after.language && before.search === after.search,
);

/** Marks the matches of a case-insensitive search in a text. */
function marked(text: string, search: string): ReactNode {
  if (search === '') {
    return text;
  }
  const wanted = search.toLowerCase();
  const lower = text.toLowerCase();
  const parts: ReactNode[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + search.length)}</mark>);
    from = at + search.length;
  }
  return [...parts, text.slice(from)];
}
