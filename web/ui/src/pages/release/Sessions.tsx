import { Content, Label, Skeleton } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { ApiError } from '../../api/client';
import { useSessions, type Session } from '../../api/release';
import { Moment } from '../../app/Moment';
import { paths, type ReleaseRef } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { formatDuration } from '../../i18n/format';

/** The operations of a release, each with a link to its events page. */
export function Sessions({ release }: { release: ReleaseRef }) {
  const { t } = useTranslation('release');
  const { data, error } = useSessions(release);
  if (!data) {
    return error instanceof ApiError ? <Refusal error={error} /> : <Skeleton height="8rem" />;
  }
  if (data.length === 0) {
    return <Content component="p">{t('sessions.none')}</Content>;
  }
  return (
    <Table variant="compact" aria-label={t('tabs.sessions')}>
      <Thead>
        <Tr>
          <Th>{t('sessions.operation')}</Th>
          <Th>{t('sessions.state')}</Th>
          <Th>{t('sessions.startedBy')}</Th>
          <Th>{t('sessions.started')}</Th>
          <Th>{t('sessions.duration')}</Th>
          <Th screenReaderText={t('sessions.replay')} />
        </Tr>
      </Thead>
      <Tbody>
        {data.map((session) => (
          <Row key={session.id} session={session} />
        ))}
      </Tbody>
    </Table>
  );
}

const looks: Record<Session['state'], { status?: 'success' | 'danger'; color?: 'blue' | 'grey' }> = {
  running: { color: 'blue' },
  completed: { status: 'success' },
  failed: { status: 'danger' },
  canceled: { color: 'grey' },
};

function Row({ session: { id, release, operation, state, user, origin, startedAt, end, command } }: { session: Session }) {
  const { t, i18n } = useTranslation('release');
  const dry = command?.some((argument) => argument.startsWith('--dry-run')) ?? false;
  const doubtful = state === 'completed' && end?.agrees === false;
  return (
    <Tr>
      <Td dataLabel={t('sessions.operation')}>
        {t(`sessions.operations.${operation}`)} {dry && <Label isCompact>{t('sessions.dryRun')}</Label>}
      </Td>
      <Td dataLabel={t('sessions.state')}>
        <Label isCompact variant="outline" {...(doubtful ? { status: 'warning' } : looks[state])}>
          {t(doubtful ? 'sessions.doubtful' : `sessions.states.${state}`)}
        </Label>
      </Td>
      <Td dataLabel={t('sessions.startedBy')} modifier="breakWord">
        {user ?? t(`sessions.origins.${origin}`)}
      </Td>
      <Td dataLabel={t('sessions.started')}>
        <Moment time={startedAt} />
      </Td>
      <Td dataLabel={t('sessions.duration')}>{end ? formatDuration(end.durationSeconds, i18n.language) : '–'}</Td>
      <Td dataLabel={t('sessions.replay')} modifier="nowrap">
        <Link to={paths.events(release, id)}>{t(state === 'running' ? 'sessions.watch' : 'sessions.replay')}</Link>
      </Td>
    </Tr>
  );
}
