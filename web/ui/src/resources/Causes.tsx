import { Alert, List, ListItem } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Cause } from '../session/events';

/** Why something is not ready, in words; nothing when there is nothing to say. */
export function Causes({ causes }: { causes: readonly Cause[] }) {
  const { t } = useTranslation('resources');
  if (causes.length === 0) {
    return null;
  }
  const final = causes.some((cause) => cause.final);
  return (
    <Alert isInline variant={final ? 'danger' : 'warning'} title={t(final ? 'causes.final' : 'causes.title')}>
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

/** The sentence, and of how many objects it is true. */
function CauseText({ cause: { object, text, count } }: { cause: Cause }) {
  const { t } = useTranslation('resources');
  return (
    <>
      <strong>{`${object.kind} ${object.name}`}</strong>
      {count && count > 1 ? ` ${t('causes.count', { count: count - 1 })}` : ''}
      {`: ${text}`}
    </>
  );
}
