import { Button, Card, CardBody, CardTitle, Content, Flex, Label, Pagination } from '@patternfly/react-core';
import { AngleDownIcon, AngleRightIcon, ExclamationTriangleIcon, InfoCircleIcon, InProgressIcon } from '@patternfly/react-icons';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconWithReason } from '../app/IconWithReason';
import { useServerWords } from '../i18n/serverWords';
import type { Resource } from '../session/events';
import type { SessionState } from '../session/state';
import { disagreements, withOwners, withoutFolded, type ResourceRow } from './rows';

const PAGE = 100;

interface ResourcesSectionProps extends Pick<SessionState, 'resources' | 'summary'> {
  /** The namespace of the release. Resources in other namespaces show theirs. */
  namespace: string;
  /** The text to show without resources. */
  empty: string;
}

/** The resources of the release and why they are not ready. Memoized, so that log lines do not render it again. */
export const ResourcesSection = memo(function ResourcesSection({ resources, summary, namespace, empty }: ResourcesSectionProps) {
  const { t } = useTranslation('resources');
  const [page, setPage] = useState(1);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = withoutFolded(withOwners(resources), folded);
  const fold = (key: string) => {
    setFolded((before) => (before.has(key) ? new Set([...before].filter((other) => other !== key)) : new Set([...before, key])));
  };
  const current = Math.min(page, Math.max(1, Math.ceil(rows.length / PAGE)));
  const elsewhere = rows.some(({ resource }) => resource.namespace && resource.namespace !== namespace);
  return (
    <Card isCompact isFullHeight component="section">
      <CardTitle component="h2">
        <Flex gap={{ default: 'gapSm' }} alignItems={{ default: 'alignItemsCenter' }} component="span">
          <span>{t('title')}</span>
          {summary && summary.total > 0 && (
            <Label isCompact status={summary.ready === summary.total ? 'success' : undefined}>
              {t('ready', { ready: summary.ready, total: summary.total })}
            </Label>
          )}
          {summary?.warnings ? (
            <Label isCompact status="warning">
              {t('warnings', { count: summary.warnings })}
            </Label>
          ) : null}
        </Flex>
      </CardTitle>
      <CardBody>
        {rows.length > 0 ? (
          <Table variant="compact" aria-label={t('title')}>
            <Thead>
              <Tr>
                <Th>{t('kind')}</Th>
                <Th>{t('name')}</Th>
                {elsewhere && <Th>{t('namespace')}</Th>}
                <Th>{t('status')}</Th>
                <Th>{t('readyColumn')}</Th>
              </Tr>
            </Thead>
            <Tbody>
              {rows.slice((current - 1) * PAGE, current * PAGE).map((row) => (
                <Row key={row.key} row={row} showNamespace={elsewhere} folded={folded.has(row.key)} onFold={fold} />
              ))}
            </Tbody>
          </Table>
        ) : (
          <Content component="small">{empty}</Content>
        )}
        {rows.length > PAGE && (
          <Pagination
            variant="bottom"
            itemCount={rows.length}
            page={current}
            perPage={PAGE}
            perPageOptions={[]}
            onSetPage={(_, next) => {
              setPage(next);
            }}
          />
        )}
      </CardBody>
    </Card>
  );
});

interface RowProps {
  row: ResourceRow;
  showNamespace: boolean;
  /** Whether its owned resources are hidden. */
  folded: boolean;
  onFold: (key: string) => void;
}

function Row({ row: { key, resource, depth, owns }, showNamespace, folded, onFold }: RowProps) {
  const { t } = useTranslation(['resources', 'common']);
  const { kind, apiVersion, name, namespace, ready, total, hook, old } = resource;
  return (
    <Tr>
      <Td dataLabel={t('kind')} title={apiVersion}>
        <Flex
          gap={{ default: 'gapXs' }}
          flexWrap={{ default: 'nowrap' }}
          display={{ default: 'inlineFlex' }}
          style={{ paddingInlineStart: `${Math.min(depth, 3) * 1.25}rem` }}
        >
          {owns ? (
            <Button
              variant="plain"
              size="sm"
              hasNoPadding
              icon={folded ? <AngleRightIcon /> : <AngleDownIcon />}
              aria-expanded={!folded}
              aria-label={t(folded ? 'show' : 'hide', { name })}
              onClick={() => {
                onFold(key);
              }}
            />
          ) : (
            <span style={{ inlineSize: '1em' }} />
          )}
          <span>{kind}</span>
        </Flex>
      </Td>
      <Td dataLabel={t('name')} modifier="breakWord">
        {name} {hook && <Label isCompact>{t('common:colon', { before: t('hook'), after: hook })}</Label>}{' '}
        {old && <Label isCompact>{t('old')}</Label>}
      </Td>
      {showNamespace && (
        <Td dataLabel={t('namespace')} modifier="breakWord">
          {namespace}
        </Td>
      )}
      <Td dataLabel={t('status')}>
        <Status resource={resource} />
      </Td>
      <Td dataLabel={t('readyColumn')}>{total > 0 ? `${ready}/${total}` : '–'}</Td>
    </Tr>
  );
}

/** The status as a label, with the reason behind an icon, and what Helm would say instead. */
function Status({ resource }: { resource: Resource }) {
  const { t } = useTranslation('resources');
  const words = useServerWords();
  const { state, status, reason, message, name, current, restarts } = resource;
  const usable = current && state !== 'warning';
  const why = [reason !== status ? reason : '', message && (words?.why(resource) ?? message)].filter(Boolean).join(': ');
  return (
    <Flex gap={{ default: 'gapSm' }} display={{ default: 'inlineFlex' }}>
      <Label isCompact variant="outline" {...look(resource)}>
        {words?.status(status) ?? status}
      </Label>
      {why && (
        <IconWithReason
          icon={usable ? <InfoCircleIcon /> : <ExclamationTriangleIcon />}
          status={usable ? 'info' : 'warning'}
          reason={why}
          label={t(usable ? 'about' : state === 'warning' ? 'warns' : 'why', { name, reason: why })}
        />
      )}
      {disagreements(resource).map(({ helm, verdict }) => (
        <Content component="small" key={helm}>
          {t(`helm.${verdict}`, { helm: t(`helm.${helm}`) })}
        </Content>
      ))}
      {restarts ? <Content component="small">{t('restarts', { count: restarts })}</Content> : null}
    </Flex>
  );
}

function look({ state, current, status, reason }: Resource) {
  if (state === 'warning') {
    return { status: 'warning' } as const;
  }
  if (current) {
    return { status: 'success' } as const;
  }
  // The warning icon beside it has the reason.
  return state === 'failed' || status === 'Failed' || reason ? ({ color: 'orange' } as const) : ({ color: 'blue', icon: <InProgressIcon /> } as const);
}
