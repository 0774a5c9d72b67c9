import { memo, type ReactNode } from 'react';
import type { Line } from '../../session/state';
import { lineText, type Writer } from './lineText';
import styles from './log.module.css';
import { timeOfDay } from './timeOfDay';

interface LogLineProps extends Writer {
  line: Line;
  /** What is looked for in the log, "" for nothing. */
  search: string;
}

/** One entry of the log with its time of day. Drawn once: an entry never changes. */
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

/** The text with what is looked for marked, whatever the case. */
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
