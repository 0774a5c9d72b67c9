import { CodeBlock, CodeBlockCode, Content, Skeleton } from '@patternfly/react-core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { usePart } from '../../api/release';
import type { Release } from '../../api/releases';
import { Refusal } from '../../app/Refusal';

/** The chart's notes, as text whose addresses can be followed. */
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
      <CodeBlockCode>{withLinks(data)}</CodeBlockCode>
    </CodeBlock>
  );
}

/** Only what is plainly a web address becomes a link; everything else stays text. */
function withLinks(text: string): ReactNode[] {
  return text.split(/(https?:\/\/[^\s"'<>()[\]]*[^\s"'<>()[\].,;:])/).map((part, i) =>
    i % 2 === 1 ? (
      <a key={i} href={part} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  );
}
