import { ExclamationTriangleIcon } from '@patternfly/react-icons';
import { Button, Flex, Label, Skeleton } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { ApiError } from '../../api/client';
import { useHistory, type HistoryItem } from '../../api/release';
import type { Release } from '../../api/releases';
import { IconWithReason } from '../../app/IconWithReason';
import { Moment } from '../../app/Moment';
import { paths } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { useServerWords } from '../../i18n/serverWords';
import { ReleaseStatus } from '../../app/ReleaseStatus';
import { RevisionModal } from './RevisionModal';

/** The revisions of a release, with links to view, compare and roll back. */
export function Revisions({ release }: { release: Release }) {
  const { t } = useTranslation('release');
  const { data, error } = useHistory(release, release.revision);
  const [shown, setShown] = useState<number | null>(null);
  if (!data) {
    return error instanceof ApiError ? <Refusal error={error} /> : <Skeleton height="8rem" />;
  }
  return (
    <>
      <Table variant="compact" aria-label={t('tabs.revisions')}>
        <Thead>
          <Tr>
            <Th modifier="fitContent">{t('revisions.revision')}</Th>
            <Th>{t('revisions.status')}</Th>
            <Th>{t('revisions.chart')}</Th>
            <Th>{t('revisions.created')}</Th>
            <Th>{t('revisions.description')}</Th>
            <Th screenReaderText={t('revisions.actions')} />
          </Tr>
        </Thead>
        <Tbody>
          {data.map((item, i) => (
            <Row
              key={item.revision}
              release={release}
              item={item}
              before={data[i + 1]?.revision}
              onShow={() => {
                setShown(item.revision);
              }}
            />
          ))}
        </Tbody>
      </Table>
      {shown !== null && (
        <RevisionModal
          release={release}
          revision={shown}
          onClose={() => {
            setShown(null);
          }}
        />
      )}
    </>
  );
}

interface RowProps {
  release: Release;
  item: HistoryItem;
  /** The previous revision, if any. */
  before?: number;
  onShow: () => void;
}

function Row({ release, item, before, onShow }: RowProps) {
  const { t } = useTranslation('release');
  const { revision, status, chart, chartVersion, updated, description, live, gone, erased, anomalies, user } = item;
  const words = useServerWords();
  const newest = revision === release.revision;
  return (
    <Tr>
      <Td dataLabel={t('revisions.revision')}>{revision}</Td>
      <Td dataLabel={t('revisions.status')}>
        <Flex gap={{ default: 'gapXs' }} display={{ default: 'inlineFlex' }}>
          <ReleaseStatus isCompact status={status} />
          {live && <Label isCompact>{t('revisions.live')}</Label>}
          {gone && <Label isCompact>{t(`revisions.gone.${gone}`)}</Label>}
          {erased && <Label isCompact>{t('revisions.erased')}</Label>}
          {anomalies.map(({ code, message }) => (
            <IconWithReason key={code} icon={<ExclamationTriangleIcon />} status="warning" reason={words ? `${words.anomaly(code)}：${message}` : message} />
          ))}
        </Flex>
      </Td>
      <Td dataLabel={t('revisions.chart')} modifier="breakWord">
        {[chart, chartVersion].filter(Boolean).join(' ')}
      </Td>
      <Td dataLabel={t('revisions.created')}>
        <Moment time={updated} />
      </Td>
      <Td dataLabel={t('revisions.description')} modifier="breakWord">
        {description}
        {user && ` (${user})`}
      </Td>
      <Td dataLabel={t('revisions.actions')}>
        <Flex gap={{ default: 'gapMd' }} flexWrap={{ default: 'nowrap' }}>
          <Button variant="link" isInline onClick={onShow} aria-label={t('revisions.viewLabel', { revision })}>
            {t('revisions.view')}
          </Button>
          {before !== undefined && (
            <Link to={paths.compare(release, before, revision)} aria-label={t('revisions.compareLabel', { revision, before })}>
              {t('revisions.compare', { before })}
            </Link>
          )}
          {!newest && !gone && (
            <Link to={paths.change(release, revision)} aria-label={t('revisions.rollbackLabel', { revision })}>
              {t('revisions.rollback')}
            </Link>
          )}
        </Flex>
      </Td>
    </Tr>
  );
}
