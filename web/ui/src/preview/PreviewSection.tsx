import { Alert, Content, EmptyState, ExpandableSection, Flex, Label, Spinner, Stack, StackItem, Title } from '@patternfly/react-core';
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../api/client';
import type { Preview } from '../api/preview';
import type { ReleaseRef } from '../app/paths';
import { Refusal } from '../app/Refusal';
import { YamlEditor } from '../editor';
import { objectsOf, type RenderedObject } from './objects';

interface PreviewSectionProps {
  release: ReleaseRef;
  /** The dry run, as far as it has come. */
  run: { isPending: boolean; error: ApiError | null; data?: Preview };
  /** The form has changed since. */
  stale: boolean;
  /** What stands above the objects. */
  children?: ReactNode;
}

/** What an operation would do, below the form that asks for it. It comes into view when it is asked for. */
export function PreviewSection({ release, run, stale, children }: PreviewSectionProps) {
  const { t } = useTranslation('preview');
  const section = useRef<HTMLElement>(null);
  const heading = useId();
  const { isPending, error, data } = run;
  const asked = isPending || error !== null || data !== undefined;
  useEffect(() => {
    if (asked && !isPending) {
      section.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [asked, isPending]);
  if (!asked) {
    return null;
  }
  return (
    <section ref={section} aria-labelledby={heading} aria-busy={isPending}>
      <Stack hasGutter>
        <StackItem>
          <Title headingLevel="h2" id={heading}>
            {t('title')}
          </Title>
        </StackItem>
        {isPending && <EmptyState variant="sm" titleText={t('running')} headingLevel="h3" icon={Spinner} />}
        {!isPending && error && <Refusal error={error} release={release} />}
        {!isPending && data && (
          <>
            {stale && <Alert isInline variant="info" title={t('stale')} />}
            {data.manifest === null ? <Failed preview={data} /> : (children ?? <Objects manifest={data.manifest} />)}
          </>
        )}
      </Stack>
    </section>
  );
}

/** helm's own words on why nothing was rendered. */
function Failed({ preview: { session } }: { preview: Preview }) {
  const { t } = useTranslation('preview');
  return (
    <Alert isInline variant="danger" title={t('failed')}>
      <span style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{session.end?.message ?? session.state}</span>
    </Alert>
  );
}

/** More objects than this are folded at first. */
const OPEN_MAX = 3;

function Objects({ manifest }: { manifest: string }) {
  const { t } = useTranslation('preview');
  const objects = objectsOf(manifest);
  return (
    <StackItem>
      <Content component="p">{t('objects', { count: objects.length })}</Content>
      {objects.map((object) => (
        <ObjectText key={object.key} object={object} open={objects.length <= OPEN_MAX} />
      ))}
    </StackItem>
  );
}

/** An object's YAML, drawn when it is looked at. */
function ObjectText({ object, open }: { object: RenderedObject; open: boolean }) {
  const { t } = useTranslation('preview');
  const [expanded, setExpanded] = useState(open && !object.hidden);
  const { kind, namespace, name, hook, hidden, source, text } = object;
  const title = [kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ') || source;
  return (
    <ExpandableSection
      isExpanded={expanded}
      isIndented
      onToggle={(_, next) => {
        setExpanded(next);
      }}
      toggleContent={
        <Flex gap={{ default: 'gapSm' }}>
          <span style={{ overflowWrap: 'anywhere' }}>{title}</span>
          {hook && <Label isCompact>{t('hook')}</Label>}
          {hidden && <Label isCompact>{t('hidden')}</Label>}
        </Flex>
      }
    >
      {expanded && (hidden ? <Content component="small">{t('hiddenHelp', { source })}</Content> : <YamlEditor label={title} value={text} height="auto" />)}
    </ExpandableSection>
  );
}
