import { Alert, CodeBlock, CodeBlockCode, Content, ExpandableSection, List, ListItem, Stack, StackItem } from '@patternfly/react-core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { LinkedText } from '../../app/LinkedText';
import { useStatusWord } from '../../app/useStatusWord';
import { CauseList } from '../../resources/Causes';
import type { EndEvent, ObjectRef, StartedEvent } from '../../session/events';

interface OutcomeProps {
  end: EndEvent;
  operation: StartedEvent['operation'];
  name: string;
}

/** The result of the operation, its causes and the remaining resources. */
export function Outcome({ end, operation, name }: OutcomeProps) {
  const { t } = useTranslation('events');
  const word = useStatusWord();
  const disagrees = end.agrees === false;
  const look = {
    COMPLETED: { variant: disagrees ? 'warning' : 'success', title: t(`end.completed.${operation}`, { name }) },
    FAILED: { variant: 'danger', title: t(`end.failed.${operation}`, { name }) },
    CANCELED: { variant: 'info', title: t(`end.canceled.${operation}`, { name }) },
  } as const;
  const { variant, title } = look[end.type];
  const reason = failureReason(end, t);
  return (
    <Stack hasGutter>
      <StackItem>
        <Alert isInline variant={variant} title={disagrees && end.type === 'COMPLETED' ? t('end.disagrees') : title}>
          <Stack hasGutter>
            {reason && <StackItem>{reason}</StackItem>}
            {end.message && (
              <StackItem>
                <CodeBlock>
                  <CodeBlockCode>{end.message}</CodeBlockCode>
                </CodeBlock>
              </StackItem>
            )}
            {disagrees && end.type === 'FAILED' && <StackItem>{t('end.disagreesFailed')}</StackItem>}
            <StackItem>
              {end.release
                ? t('end.releaseIs', { revision: end.release.revision, status: word(end.release.status) })
                : t('end.releaseGone')}
            </StackItem>
            {end.causes.length > 0 && (
              <StackItem>
                <Heading>{t('end.causes')}</Heading>
                <CauseList causes={end.causes} />
              </StackItem>
            )}
            {end.leftovers.length > 0 && <Items title={t('end.leftovers')} items={end.leftovers.map(objectName)} />}
            {end.hint && end.release && <StackItem>{t('end.left', { status: word(end.release.status) })}</StackItem>}
          </Stack>
        </Alert>
      </StackItem>
      {end.notes && (
        <StackItem>
          <ExpandableSection toggleText={t('end.notes')}>
            <CodeBlock>
              <CodeBlockCode>
                <LinkedText text={end.notes} />
              </CodeBlockCode>
            </CodeBlock>
          </ExpandableSection>
        </StackItem>
      )}
    </Stack>
  );
}

function failureReason({ type, reason, exitCode, process }: EndEvent, t: TFunction<'events'>): string | null {
  if (type !== 'FAILED' || !reason) {
    return null;
  }
  if (reason !== 'exit') {
    return t(`end.reason.${reason}`);
  }
  if (exitCode !== null) {
    return t('end.reason.exit', { code: exitCode });
  }
  return process?.signal ? t('end.reason.signal', { signal: process.signal }) : null;
}

/** The heading of a list. */
const Heading = ({ children }: { children: string }) => (
  <Content component="p">
    <strong>{children}</strong>
  </Content>
);

/** How many items are shown unfolded. */
const ITEMS_SHOWN = 10;

function Items({ title, items }: { title: string; items: string[] }) {
  const { t } = useTranslation('events');
  return (
    <StackItem>
      <Heading>{title}</Heading>
      <List>
        {items.slice(0, ITEMS_SHOWN).map((item) => (
          <ListItem key={item}>{item}</ListItem>
        ))}
      </List>
      {items.length > ITEMS_SHOWN && (
        <ExpandableSection toggleText={t('end.more', { count: items.length - ITEMS_SHOWN })}>
          <List>
            {items.slice(ITEMS_SHOWN).map((item) => (
              <ListItem key={item}>{item}</ListItem>
            ))}
          </List>
        </ExpandableSection>
      )}
    </StackItem>
  );
}

const objectName = ({ kind, name }: ObjectRef) => `${kind} ${name}`;
