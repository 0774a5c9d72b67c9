import { DescriptionList } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { Fact } from '../../app/Fact';
import type { ReleaseRef } from '../../app/paths';
import { ReleaseStatus } from '../../app/ReleaseStatus';
import { formatMoment } from '../../i18n/format';
import type { SessionState } from '../../session/state';

/** The facts about an operation. */
export function Facts({ release: { cluster, namespace }, session: { started, release, end } }: { release: ReleaseRef; session: SessionState }) {
  const { t, i18n } = useTranslation('events');
  const by = started?.user ?? (started?.origin === 'outside' ? t('facts.outside') : undefined);
  // After the end, the final read of the release counts, not the last transition.
  const now = end ? end.release : release;
  return (
    <DescriptionList isCompact columnModifier={{ default: '1Col', sm: '2Col', lg: '3Col' }} isHorizontal isFluid>
      <Fact term={t('facts.cluster')}>{cluster}</Fact>
      <Fact term={t('facts.namespace')}>{namespace}</Fact>
      {started?.chart && <Fact term={t('facts.chart')}>{started.chart}</Fact>}
      {started && <Fact term={t('facts.started')}>{formatMoment(Date.parse(started.time), i18n.language)}</Fact>}
      {by && <Fact term={t('facts.startedBy')}>{by}</Fact>}
      {now && <Fact term={t('facts.revision')}>{now.revision}</Fact>}
      {now && (
        <Fact term={t('facts.release')}>
          <ReleaseStatus status={now.status} />
        </Fact>
      )}
    </DescriptionList>
  );
}
