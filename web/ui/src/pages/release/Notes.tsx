import { CodeBlock, CodeBlockCode, Content, Skeleton } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { usePart } from '../../api/release';
import type { Release } from '../../api/releases';
import { LinkedText } from '../../app/LinkedText';
import { Refusal } from '../../app/Refusal';

/** The chart's notes as text with links. */
export function Notes({ release }: { release: Release }) {
  const { t } = useTranslation('release');
  const { data, error } = usePart(release, release.revision, 'notes');
  if (data === undefined) {
    return error instanceof ApiError ? <Refusal error={error} /> : <Skeleton height="8rem" />;
  }
  if (data.trim() === '') {
    return <Content component="p">{t('noNotes')}</Content>;
  }
  return (
    <CodeBlock>
      <CodeBlockCode>
        <LinkedText text={data} />
      </CodeBlockCode>
    </CodeBlock>
  );
}
