import { Button } from '@patternfly/react-core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import styles from './diff.module.css';
import { parseUnified, sideBySide, type DiffLine } from './unified';

export type DiffLayout = 'split' | 'unified';

/** The width from which on two columns of text fit. */
export const usualLayout = (): DiffLayout => (window.matchMedia('(min-width: 48rem)').matches ? 'split' : 'unified');

/** How many lines are shown at first, and with each request for more. */
const SHOWN = 500;
const MORE = 2000;

const signs = { same: ' ', added: '+', removed: '-', fold: ' ' } as const;

/** A diff, unified or side by side, with a few unchanged lines of context. */
export function TextDiff({ diff, layout, label }: { diff: string; layout: DiffLayout; label: string }) {
  const { t } = useTranslation('compare');
  const [limit, setLimit] = useState(SHOWN);
  const rows = useMemo(() => {
    const lines = parseUnified(diff);
    return layout === 'split' ? sideBySide(lines) : lines;
  }, [diff, layout]);
  const shown = rows.slice(0, limit);
  return (
    <>
      <table className={styles['table']} aria-label={label}>
        {/* The first row may be a fold, which does not define the columns. */}
        <colgroup>
          <col className={styles['number']} />
          <col className={layout === 'unified' ? styles['number'] : undefined} />
          {layout === 'split' && <col className={styles['number']} />}
          <col />
        </colgroup>
        <tbody>
          {shown.map((row, i) => (
            <tr key={i}>{Array.isArray(row) ? <PairCells before={row[0]} after={row[1]} /> : <LineCells line={row} />}</tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <Button
          variant="link"
          onClick={() => {
            setLimit(limit + MORE);
          }}
        >
          {t('more', { count: Math.min(MORE, rows.length - shown.length) })}
        </Button>
      )}
    </>
  );
}

function Fold() {
  const { t } = useTranslation('compare');
  return (
    <td className={styles['fold']} colSpan={4}>
      {t('unchanged')}
    </td>
  );
}

function LineCells({ line }: { line: DiffLine }) {
  if (line.kind === 'fold') {
    return <Fold />;
  }
  return (
    <>
      <td className={styles['number']}>{line.before}</td>
      <td className={styles['number']}>{line.after}</td>
      <Text line={line} />
    </>
  );
}

function PairCells({ before, after }: { before: DiffLine | null; after: DiffLine | null }) {
  if (before?.kind === 'fold') {
    return <Fold />;
  }
  return (
    <>
      <td className={styles['number']}>{before?.before}</td>
      <Text line={before} />
      <td className={styles['number']}>{after?.after}</td>
      <Text line={after} />
    </>
  );
}

function Text({ line }: { line: DiffLine | null }) {
  return (
    <td className={styles['text']} data-kind={line?.kind} data-sign={line ? signs[line.kind] : ' '}>
      {line?.text}
    </td>
  );
}
