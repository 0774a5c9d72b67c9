import { Flex, Label, Timestamp, Tooltip } from '@patternfly/react-core';
import { ExclamationTriangleIcon } from '@patternfly/react-icons';
import { SortByDirection, Table, Tbody, Td, Th, Thead, Tr, type ThProps } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Release } from '../../api/releases';
import { IconWithReason } from '../../app/IconWithReason';
import { paths } from '../../app/paths';
import { ReleaseStatus } from '../../app/ReleaseStatus';
import { UninstallButton } from '../../app/UninstallButton';
import { useNow } from '../../app/useNow';
import { useStatusWord } from '../../app/useStatusWord';
import { formatAgo, formatMoment } from '../../i18n/format';
import type { Sort, SortKey } from './filter';

interface ReleaseTableProps {
  releases: readonly Release[];
  showCluster: boolean;
  showNamespace: boolean;
  sort: Sort;
  onSort: (sort: Sort) => void;
}

const SORT_KEYS: SortKey[] = ['cluster', 'name', 'namespace', 'status', 'updated'];

export function ReleaseTable({ releases, showCluster, showNamespace, sort, onSort }: ReleaseTableProps) {
  const { t } = useTranslation('releases');
  const now = useNow(5000);
  const sortable = (key: SortKey): ThProps['sort'] => ({
    columnIndex: SORT_KEYS.indexOf(key),
    sortBy: { index: SORT_KEYS.indexOf(sort.key), direction: sort.descending ? SortByDirection.desc : SortByDirection.asc },
    onSort: (_, __, direction) => {
      onSort({ key, descending: direction === SortByDirection.desc });
    },
  });
  return (
    <Table variant="compact" aria-label={t('title')}>
      <Thead>
        <Tr>
          <Th sort={sortable('name')}>{t('columns.name')}</Th>
          {showCluster && <Th modifier="fitContent" sort={sortable('cluster')}>{t('cluster')}</Th>}
          {showNamespace && <Th sort={sortable('namespace')}>{t('columns.namespace')}</Th>}
          <Th modifier="fitContent" sort={sortable('status')}>{t('columns.status')}</Th>
          <Th modifier="fitContent">{t('columns.revision')}</Th>
          <Th>{t('columns.chart')}</Th>
          <Th modifier="fitContent">{t('columns.appVersion')}</Th>
          <Th modifier="fitContent" sort={sortable('updated')}>{t('columns.updated')}</Th>
          <Th screenReaderText={t('columns.session')} />
        </Tr>
      </Thead>
      <Tbody>
        {releases.map((release) => (
          <Row key={`${release.cluster}/${release.namespace}/${release.name}`} release={release} showCluster={showCluster} showNamespace={showNamespace} now={now} />
        ))}
      </Tbody>
    </Table>
  );
}

interface RowProps {
  release: Release;
  showCluster: boolean;
  showNamespace: boolean;
  now: number;
}

function Row({ release, showCluster, showNamespace, now }: RowProps) {
  const { t, i18n } = useTranslation('releases');
  const word = useStatusWord();
  const updated = Date.parse(release.updated);
  return (
    <Tr>
      <Td dataLabel={t('columns.name')} modifier="breakWord">
        <Link to={paths.release(release)}>{release.name}</Link>
      </Td>
      {showCluster && (
        <Td dataLabel={t('cluster')} modifier="breakWord">
          <Link to={paths.releases(release.cluster)}>{release.cluster}</Link>
        </Td>
      )}
      {showNamespace && (
        <Td dataLabel={t('columns.namespace')} modifier="breakWord">
          <Link to={paths.releases(release.cluster, release.namespace)}>{release.namespace}</Link>
        </Td>
      )}
      <Td dataLabel={t('columns.status')}>
        <Flex gap={{ default: 'gapXs' }} flexWrap={{ default: 'nowrap' }} display={{ default: 'inlineFlex' }}>
          {release.description ? (
            <Tooltip content={release.description}>
              <span tabIndex={0}>
                <ReleaseStatus isCompact status={release.status} />
              </span>
            </Tooltip>
          ) : (
            <ReleaseStatus isCompact status={release.status} />
          )}
          {release.stuck && (
            <Label isCompact status="warning">
              {t('stuck')}
            </Label>
          )}
          {release.problem && (
            <IconWithReason icon={<ExclamationTriangleIcon />} status="warning" reason={t('undecodable', { problem: release.problem })} />
          )}
          {release.labelStatus && (
            <IconWithReason
              icon={<ExclamationTriangleIcon />}
              status="warning"
              reason={t('labelDisagrees', { status: word(release.labelStatus) })}
            />
          )}
        </Flex>
      </Td>
      <Td dataLabel={t('columns.revision')}>{release.revision}</Td>
      <Td dataLabel={t('columns.chart')} modifier="breakWord">
        {[release.chart, release.chartVersion].filter(Boolean).join(' ')}
      </Td>
      <Td dataLabel={t('columns.appVersion')} modifier="breakWord">
        {release.appVersion}
      </Td>
      <Td dataLabel={t('columns.updated')} modifier="nowrap">
        {updated > 0 && (
          <Timestamp date={new Date(updated)} tooltip={{ variant: 'custom', content: formatMoment(updated, i18n.language) }}>
            {formatAgo(updated, now, i18n.language)}
          </Timestamp>
        )}
      </Td>
      <Td dataLabel={t('columns.session')} modifier="nowrap">
        {release.session ? (
          <Link to={paths.events(release, release.session)} aria-label={t('runningLabel', { name: release.name })}>
            {t('running')}
          </Link>
        ) : (
          <UninstallButton release={release} variant="link" isInline />
        )}
      </Td>
    </Tr>
  );
}
