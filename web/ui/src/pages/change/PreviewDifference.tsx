import { ExpandableSection, Skeleton, StackItem } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useDiff } from '../../api/release';
import type { ReleaseRef } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { DiffView } from '../../diff/DiffView';
import { usualLayout } from '../../diff/TextDiff';

interface PreviewDifferenceProps {
  release: ReleaseRef;
  /** The deployed revision. */
  revision: number;
  /** The dry run. */
  session: string;
}

/** Shows how the rendered upgrade differs from the deployed revision. */
export function PreviewDifference({ release, revision, session }: PreviewDifferenceProps) {
  const { t } = useTranslation('change');
  const [expanded, setExpanded] = useState(true);
  const { data, error } = useDiff(release, { from: revision, toSession: session });
  return (
    <StackItem>
      <ExpandableSection
        toggleText={t('againstLive', { revision })}
        isExpanded={expanded}
        onToggle={(_, next) => {
          setExpanded(next);
        }}
      >
        {error instanceof ApiError && <Refusal error={error} />}
        {data ? <DiffView diff={data} layout={usualLayout()} /> : !error && <Skeleton height="8rem" />}
      </ExpandableSection>
    </StackItem>
  );
}
