import { Alert, CodeBlock, CodeBlockCode, List, ListItem } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useServerWords } from '../i18n/serverWords';
import type { Cause } from '../session/events';

/** Explains why something is not ready, or what ready objects complain about. Renders nothing without a cause. */
export function Causes({ causes }: { causes: readonly Cause[] }) {
  const { t } = useTranslation('resources');
  if (causes.length === 0) {
    return null;
  }
  const final = causes.some((cause) => cause.final);
  const usable = causes.every(({ problem }) => problem === 'warning' || problem === 'helmCannotJudge');
  return (
    <Alert isInline variant={final ? 'danger' : 'warning'} title={t(final ? 'causes.final' : usable ? 'causes.warnings' : 'causes.title')}>
      <CauseList causes={causes} />
    </Alert>
  );
}

export function CauseList({ causes }: { causes: readonly Cause[] }) {
  return (
    <List isPlain={causes.length === 1} style={{ overflowWrap: 'anywhere' }}>
      {causes.map((cause) => (
        <ListItem key={`${cause.object.kind}/${cause.object.namespace ?? ''}/${cause.object.name}/${cause.text}`}>
          <CauseText cause={cause} />
        </ListItem>
      ))}
    </List>
  );
}

/** The sentence, the number of objects that it applies to, and the last lines of the container. */
function CauseText({ cause }: { cause: Cause }) {
  const { t } = useTranslation('resources');
  const words = useServerWords();
  const { object, count, log } = cause;
  const translated = words?.cause(cause);
  const text = translated ?? cause.text;
  const subject = `${object.kind} ${object.name}`;
  // Most sentences name the object themselves, and a translated one counts the others.
  const [before, after] = text.includes(subject) ? splitAt(text, subject) : ['', `: ${text}`];
  return (
    <>
      {before}
      <strong>{subject}</strong>
      {translated == null && count && count > 1 ? ` ${t('causes.count', { count: count - 1 })}` : ''}
      {after}
      {log && (
        <CodeBlock>
          <CodeBlockCode>{log}</CodeBlockCode>
        </CodeBlock>
      )}
    </>
  );
}

/** Returns the text before and after the first occurrence of a part. */
function splitAt(text: string, part: string): [string, string] {
  const start = text.indexOf(part);
  return [text.slice(0, start), text.slice(start + part.length)];
}
