import { Card, CardBody, CardTitle, ProgressStep, ProgressStepper, type ProgressStepProps } from '@patternfly/react-core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { useStatusWord } from '../../app/useStatusWord';
import { useServerWords } from '../../i18n/serverWords';
import { formatDuration } from '../../i18n/format';
import type { Milestone } from '../../session/state';
import { milestoneText } from './lineText';
import { timeOfDay } from './timeOfDay';

/** The milestones of a session: transitions, retries, the end. Memoized, so that log lines do not render it again. */
export const Timeline = memo(function Timeline({ milestones, ended }: { milestones: readonly Milestone[]; ended: boolean }) {
  const { t, i18n } = useTranslation('events');
  const statusWord = useStatusWord();
  const writer = { t, language: i18n.language, statusWord, words: useServerWords() };
  return (
    <Card isCompact isFullHeight component="section">
      <CardTitle component="h2">{t('timeline.title')}</CardTitle>
      <CardBody>
        <ProgressStepper isVertical isCompact={false} aria-label={t('timeline.title')}>
          {milestones.map((milestone, i) => (
            <ProgressStep
              key={milestone.seq}
              id={`milestone-${milestone.seq}`}
              titleId={`milestone-${milestone.seq}-title`}
              variant={variant(milestone)}
              isCurrent={!ended && i === milestones.length - 1}
              description={[timeOfDay(milestone.time), `+${formatDuration(milestone.elapsedSeconds, i18n.language)}`].join(' · ')}
            >
              {milestoneText(milestone, writer)}
            </ProgressStep>
          ))}
        </ProgressStepper>
      </CardBody>
    </Card>
  );
});

function variant(milestone: Milestone): ProgressStepProps['variant'] {
  switch (milestone.type) {
    case 'STARTED':
      return 'info';
    case 'RETRYING':
      return 'warning';
    case 'COMPLETED':
      return milestone.agrees === false ? 'warning' : 'success';
    case 'FAILED':
      return 'danger';
    case 'CANCELED':
      return 'default';
    case 'RELEASE_STATUS':
      return milestone.status === 'deployed' ? 'success' : milestone.status === 'failed' ? 'danger' : 'info';
  }
}
