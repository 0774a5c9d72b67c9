import { Button, Flex } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { TrailEntry } from '../../api/trail';
import { paths, type ReleaseRef } from '../../app/paths';
import { ReleaseStatus } from '../../app/ReleaseStatus';
import type { trail as texts } from '../../i18n/en/trail';
import { formatMoment } from '../../i18n/format';

/** How many entries are shown at first, and with each request for more. */
const SHOWN = 200;

interface TrailTableProps {
  release: ReleaseRef;
  /** Oldest first. */
  entries: readonly TrailEntry[];
  onShow: (shown: { revision: number; lineage?: string }) => void;
}

/** The entries of a trail, newest first. */
export function TrailTable({ release, entries, onShow }: TrailTableProps) {
  const { t } = useTranslation('trail');
  const [limit, setLimit] = useState(SHOWN);
  const shown = entries.slice(-limit).reverse();
  return (
    <>
      <Table variant="compact" aria-label={t('title')}>
        <Thead>
          <Tr>
            <Th>{t('time')}</Th>
            <Th>{t('what')}</Th>
            <Th modifier="fitContent">{t('revision')}</Th>
            <Th>{t('status')}</Th>
            <Th>{t('who')}</Th>
            <Th screenReaderText={t('session')} />
          </Tr>
        </Thead>
        <Tbody>
          {shown.map((entry) => (
            <Row key={entry.position} release={release} entry={entry} onShow={onShow} />
          ))}
        </Tbody>
      </Table>
      {entries.length > shown.length && (
        <Button
          variant="link"
          onClick={() => {
            setLimit(limit + SHOWN);
          }}
        >
          {t('more', { count: Math.min(SHOWN, entries.length - shown.length) })}
        </Button>
      )}
    </>
  );
}

type RowProps = Pick<TrailTableProps, 'release' | 'onShow'> & { entry: TrailEntry };

function Row({ release, entry, onShow }: RowProps) {
  const { t, i18n } = useTranslation('trail');
  const { position, time, revision, lineage, status, previousStatus, late, user, session } = entry;
  return (
    <Tr>
      <Td dataLabel={t('time')} title={t('position', { position })}>
        {formatMoment(Date.parse(time), i18n.language)}
      </Td>
      <Td dataLabel={t('what')} modifier="breakWord">
        <What entry={entry} />
        {late && ` (${t('late')})`}
      </Td>
      <Td dataLabel={t('revision')}>
        {revision !== undefined && (
          <Button
            variant="link"
            isInline
            aria-label={t('view', { revision })}
            onClick={() => {
              onShow({ revision, lineage });
            }}
          >
            {revision}
          </Button>
        )}
      </Td>
      <Td dataLabel={t('status')}>
        <Flex gap={{ default: 'gapXs' }} display={{ default: 'inlineFlex' }}>
          {previousStatus && previousStatus !== status && (
            <>
              <ReleaseStatus isCompact status={previousStatus} />
              <span aria-label={t('then')}>→</span>
            </>
          )}
          {status && <ReleaseStatus isCompact status={status} />}
        </Flex>
      </Td>
      <Td dataLabel={t('who')} modifier="breakWord">
        {user ?? '–'}
      </Td>
      <Td dataLabel={t('session')} modifier="nowrap">
        {session && <Link to={paths.events(release, session)}>{t('replay')}</Link>}
      </Td>
    </Tr>
  );
}

type Revealed = keyof typeof texts.revealed;

/** A record, so that it does not compile without every word of the catalogue. */
const revealed: Record<Revealed, true> = {
  comparison: true,
  drift: true,
  releases: true,
  history: true,
  revision: true,
  values: true,
  'restored values': true,
  manifest: true,
  hooks: true,
  notes: true,
  chart: true,
  metadata: true,
};

const isRevealed = (what = ''): what is Revealed => Object.hasOwn(revealed, what);

function What({ entry: { kind, change, what, from, digests } }: { entry: TrailEntry }) {
  const { t, i18n } = useTranslation('trail');
  switch (kind) {
    case 'transition':
      return t(`changes.${change ?? 'status'}`);
    case 'gap':
      return from ? t('kinds.gap', { from: formatMoment(Date.parse(from), i18n.language) }) : t('kinds.begin');
    case 'reveal':
      return t('kinds.reveal', { what: isRevealed(what) ? t(`revealed.${what}`) : (what ?? '') });
    case 'erased':
      return t('kinds.erased', { count: digests?.length ?? 0, what: what ?? '' });
    default:
      return t(`kinds.${kind}`);
  }
}
