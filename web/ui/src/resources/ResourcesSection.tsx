import { Card, CardBody, CardTitle, Content, Flex, Label, Pagination } from '@patternfly/react-core';
import { ExclamationTriangleIcon, InProgressIcon } from '@patternfly/react-icons';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconWithReason } from '../../app/IconWithReason';
import { resourceKey, type Resource } from '../../session/events';
import type { SessionState } from '../../session/state';
import { withOwners, type ResourceRow } from './rows';

const PAGE = 100;

interface ResourcesSectionProps extends Pick<SessionState, 'resources' | 'summary'> {
  /** The release's; a resource elsewhere shows its own. */
  namespace: string;
  ended: boolean;
}

/** What the release owns, and what keeps each object from being ready. It is not drawn anew for each line of the log. */
export const ResourcesSection = memo(function ResourcesSection({ resources, summary, namespace, ended }: ResourcesSectionProps) {
  const { t } = useTranslation('events');
  const [page, setPage] = useState(1);
  const rows = withOwners(resources);
  const current = Math.min(page, Math.max(1, Math.ceil(rows.length / PAGE)));
  const elsewhere = rows.some(({ resource }) => resource.namespace && resource.namespace !== namespace);
  return (
    <Card isCompact component="section">
      <CardTitle component="h2">
        <Flex gap={{ default: 'gapSm' }} alignItems={{ default: 'alignItemsCenter' }} component="span">
          <span>{t('resources.title')}</span>
          {summary && summary.total > 0 && (
            <Label isCompact status={summary.ready === summary.total ? 'success' : undefined}>
              {t('resources.ready', { ready: summary.ready, total: summary.total })}
            </Label>
          )}
        </Flex>
      </CardTitle>
      <CardBody>
        {rows.length > 0 ? (
          <Table variant="compact" aria-label={t('resources.title')}>
            <Thead>
              <Tr>
                <Th>{t('resources.kind')}</Th>
                <Th>{t('resources.name')}</Th>
                {elsewhere && <Th>{t('resources.namespace')}</Th>}
                <Th>{t('resources.status')}</Th>
                <Th>{t('resources.readyColumn')}</Th>
              </Tr>
            </Thead>
            <Tbody>
              {rows.slice((current - 1) * PAGE, current * PAGE).map((row) => (
                <Row key={resourceKey(row.resource)} row={row} showNamespace={elsewhere} />
              ))}
            </Tbody>
          </Table>
        ) : (
          <Content component="small">{t(ended ? 'resources.noneAtEnd' : 'resources.none')}</Content>
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

function Row({ row: { resource, depth }, showNamespace }: { row: ResourceRow; showNamespace: boolean }) {
  const { t } = useTranslation('events');
  const { kind, apiVersion, name, namespace, ready, total, hook } = resource;
  return (
    <Tr>
      <Td dataLabel={t('resources.kind')} title={apiVersion}>
        {'↳ '.repeat(Math.min(depth, 3))}
        {kind}
      </Td>
      <Td dataLabel={t('resources.name')} modifier="breakWord">
        {name} {hook && <Label isCompact>{`${t('resources.hook')}: ${hook}`}</Label>}
      </Td>
      {showNamespace && (
        <Td dataLabel={t('resources.namespace')} modifier="breakWord">
          {namespace}
        </Td>
      )}
      <Td dataLabel={t('resources.status')}>
        <Status resource={resource} />
      </Td>
      <Td dataLabel={t('resources.readyColumn')}>{total > 0 ? `${ready}/${total}` : '–'}</Td>
    </Tr>
  );
}

/** The status in the server's word; behind the icon, why. */
function Status({ resource }: { resource: Resource }) {
  const { t } = useTranslation('events');
  const { status, reason, message, name, current, restarts } = resource;
  const why = [reason !== status ? reason : '', message].filter(Boolean).join(': ');
  return (
    <Flex gap={{ default: 'gapSm' }} display={{ default: 'inlineFlex' }}>
      <Label isCompact variant="outline" {...look(resource)}>
        {status}
      </Label>
      {!current && why && (
        <IconWithReason
          icon={<ExclamationTriangleIcon />}
          status="warning"
          reason={why}
          label={t('resources.why', { name, reason: why })}
        />
      )}
      {restarts ? <Content component="small">{t('resources.restarts', { count: restarts })}</Content> : null}
    </Flex>
  );
}

function look({ current, status, reason }: Resource) {
  if (current) {
    return { status: 'success' } as const;
  }
  // The warning stands beside it, with the reason.
  return status === 'Failed' || reason ? ({ color: 'orange' } as const) : ({ color: 'blue', icon: <InProgressIcon /> } as const);
}
