import { Card, CardBody, CardTitle, Progress, ProgressMeasureLocation, ProgressVariant } from '@patternfly/react-core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatDuration } from '../../i18n/format';
import { elapsedSeconds, type SessionState } from '../../session/state';

/** The share of the timeout from which on the bar warns. */
const WARN_AT = 0.9;

const COUNT_MS = 250;

/** The elapsed time as a share of Helm's timeout. */
export function ProgressSection({ session }: { session: SessionState }) {
  const { t, i18n } = useTranslation('events');
  const { clock, end } = session;
  const now = useCount(clock !== null && end === null);
  const seconds = elapsedSeconds(session, now);
  const timeoutSeconds = clock?.timeoutSeconds ?? 0;
  const elapsed = formatDuration(seconds, i18n.language);
  const share = timeoutSeconds > 0 ? Math.min(seconds / timeoutSeconds, 1) : 0;
  const phase = t(`phase.${clock?.phase ?? 'queued'}`);
  const timeout = formatDuration(timeoutSeconds, i18n.language);

  let label: string = t('progress.atMost', { elapsed });
  if (end) {
    label = t('progress.took', { elapsed });
  } else if (timeoutSeconds > 0) {
    label = t('progress.ofTimeout', { elapsed, timeout });
  }
  let title: string = clock?.phase ? phase : '';
  if (end) {
    title = '';
  } else if (share === 1) {
    title = t('progress.overtime', { phase });
  }
  return (
    <Card isCompact component="section">
      <CardTitle component="h2">{t('progress.title')}</CardTitle>
      <CardBody>
        <Progress
          aria-label={t('progress.label')}
          title={title}
          value={(end ? 1 : share) * 100}
          label={label}
          valueText={label}
          measureLocation={ProgressMeasureLocation.top}
          variant={variant(session, share)}
        />
      </CardBody>
    </Card>
  );
}

function variant({ end }: SessionState, share: number): ProgressVariant | undefined {
  switch (end?.type) {
    case 'COMPLETED':
      return end.agrees === false ? ProgressVariant.warning : ProgressVariant.success;
    case 'FAILED':
      return ProgressVariant.danger;
    case 'CANCELED':
      return undefined;
    case undefined:
      return share > WARN_AT ? ProgressVariant.warning : undefined;
  }
}

/** The time of performance.now(), updated while running. */
function useCount(running: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!running) {
      return;
    }
    const timer = setInterval(() => {
      setNow(performance.now());
    }, COUNT_MS);
    return () => {
      clearInterval(timer);
    };
  }, [running]);
  return now;
}
