import { Label, Tooltip } from '@patternfly/react-core';
import { BanIcon, ConnectedIcon, InProgressIcon } from '@patternfly/react-icons';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionView } from '../../session/SessionFollower';

export type SessionStatus = 'connecting' | 'connected' | 'completed' | 'failed' | 'canceled' | 'lost' | 'none';

const endStatus = { COMPLETED: 'completed', FAILED: 'failed', CANCELED: 'canceled' } as const;

/** The status of the session's page. */
export function sessionStatus({ session, connection, refused }: SessionView): SessionStatus {
  if (session.end) {
    return endStatus[session.end.type];
  }
  if (refused) {
    return 'none';
  }
  return connection === 'connected' || connection === 'lost' ? connection : 'connecting';
}

const looks: Record<SessionStatus, Pick<ComponentProps<typeof Label>, 'status' | 'color' | 'icon'>> = {
  connecting: { color: 'grey', icon: <InProgressIcon /> },
  connected: { color: 'blue', icon: <ConnectedIcon /> },
  completed: { status: 'success' },
  failed: { status: 'danger' },
  canceled: { color: 'grey', icon: <BanIcon /> },
  lost: { status: 'danger' },
  none: { color: 'grey' },
};

interface StatusTagProps {
  status: SessionStatus;
  /** The release status does not match Helm's result. A success is then a warning. */
  disagrees: boolean;
}

export function StatusTag({ status, disagrees }: StatusTagProps) {
  const { t } = useTranslation('events');
  const doubtful = disagrees && status === 'completed';
  const tag = (
    <Label {...(doubtful ? { status: 'warning' } : looks[status])} role="status" data-status={status}>
      {t(`status.${status}`)}
    </Label>
  );
  return doubtful ? <Tooltip content={t('end.disagrees')}>{tag}</Tooltip> : tag;
}
