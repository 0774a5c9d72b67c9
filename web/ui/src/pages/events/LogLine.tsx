import { memo } from 'react';
import type { Line } from '../../session/state';
import { lineText, type Writer } from './lineText';
import styles from './log.module.css';

/** One entry of the log with its time of day. Drawn once: an entry never changes. */
export const LogLine = memo(
  function LogLine({ line, ...writer }: { line: Line } & Writer) {
    return (
      <div className={styles.line} data-type={line.type}>
        <time className={styles.time} dateTime={line.time}>
          {timeOfDay(line.time)}
        </time>
        <span className={styles.text}>{lineText(line, writer)}</span>
      </div>
    );
  },
  (before, after) => before.line === after.line && before.language === after.language,
);

/** Hours to seconds by the reader's clock, in digits that stand in columns in every language. */
function timeOfDay(time: string): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
}
