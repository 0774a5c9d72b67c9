import { Alert, CodeBlock, CodeBlockCode, Content, ExpandableSection, Flex, Label, Spinner, StackItem, type LabelProps } from '@patternfly/react-core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { useValidation, type Preview, type ValidatedObject } from '../api/preview';
import { FoldTitle } from '../app/FoldTitle';
import { Refusal } from '../app/Refusal';
import { FieldChanges } from '../diff/FieldChanges';
import { useServerWords } from '../i18n/serverWords';
import { YamlEditor } from '../editor';
import { objectsOf, type RenderedObject } from './objects';

/** The maximum number of objects that are expanded at first. */
const OPEN_MAX = 3;

/** The rendered objects, each with the API server's verdict. */
export function PreviewObjects({ preview, manifest }: { preview: Preview; manifest: string }) {
  const { t } = useTranslation('preview');
  const objects = useMemo(() => objectsOf(manifest), [manifest]);
  const { data, error } = useValidation(preview);
  const verdicts = new Map(data?.objects.map((object) => [nameOf(object), object]));
  const shown = objects
    .map((object) => ({
      object,
      verdict: verdicts.get(nameOf(object)) ?? verdicts.get(nameOf({ ...object, namespace: object.namespace ?? preview.release.namespace })),
    }))
    .sort((a, b) => urgency(a.verdict) - urgency(b.verdict));
  const notes = preview.session.end?.notes;
  const words = useServerWords();
  const refused = data?.counts['refused'] ?? 0;
  return (
    <>
      <StackItem aria-live="polite">
        {!data && !error && (
          <Flex gap={{ default: 'gapSm' }}>
            <Spinner size="md" aria-label={t('validating')} />
            <Content component="p">{t('validating')}</Content>
          </Flex>
        )}
        {error instanceof ApiError && <Refusal error={error} />}
        {data && (
          <Alert
            isInline
            variant={refused > 0 ? 'danger' : !data.valid ? 'warning' : data.message ? 'info' : 'success'}
            title={refused > 0 ? t('refused', { count: refused }) : t(data.valid ? 'valid' : 'uncertain')}
          >
            {data.message && (words?.note(data.note) ?? data.message)}
          </Alert>
        )}
      </StackItem>
      <StackItem>
        <Content component="p">{t('objects', { count: objects.length })}</Content>
        {shown.map(({ object, verdict }) => (
          <PreviewObject key={object.key} object={object} verdict={verdict} open={objects.length <= OPEN_MAX} />
        ))}
        {notes && (
          <ExpandableSection toggleText={t('notes')} isIndented>
            <CodeBlock>
              <CodeBlockCode>{notes}</CodeBlockCode>
            </CodeBlock>
          </ExpandableSection>
        )}
      </StackItem>
    </>
  );
}

const nameOf = ({ apiVersion, kind, namespace = '', name }: Pick<RenderedObject, 'apiVersion' | 'kind' | 'namespace' | 'name'>) =>
  `${apiVersion} ${kind} ${namespace}/${name}`;

/** Orders rejected objects first, then unchecked ones, then the rest in the order of the manifest. */
const urgency = (object?: ValidatedObject) => (object?.verdict === 'refused' ? 0 : object?.verdict === 'unknown' ? 1 : 2);

const looks: Record<ValidatedObject['verdict'], Pick<LabelProps, 'status' | 'color'>> = {
  create: { status: 'success' },
  change: { color: 'blue' },
  unchanged: { color: 'grey' },
  refused: { status: 'danger' },
  unknown: { status: 'warning' },
};

interface PreviewObjectProps {
  object: RenderedObject;
  verdict?: ValidatedObject;
  open: boolean;
}

/** An object with its verdict. Its YAML is rendered when it is expanded. */
function PreviewObject({ object, verdict, open }: PreviewObjectProps) {
  const { t } = useTranslation('preview');
  const { kind, namespace, name, hook, hidden, source, text } = object;
  const words = useServerWords();
  const [expanded, setExpanded] = useState(open && !hidden);
  const title = [kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ') || source;
  const notices = (
    <>
      {verdict?.message && <Alert isInline isPlain variant={verdict.verdict === 'refused' ? 'danger' : 'warning'} title={words?.note(verdict.note, object) ?? verdict.message} />}
      {verdict?.warnings.map((warning) => {
        const conflict = verdict.conflicts?.find((each) => each.warning === warning);
        return <Alert key={warning} isInline isPlain variant="warning" title={(conflict && words?.conflict(conflict)) ?? warning} />;
      })}
    </>
  );
  return (
    <>
      <ExpandableSection
        isExpanded={expanded}
        isIndented
        onToggle={(_, next) => {
          setExpanded(next);
        }}
        toggleContent={
          <FoldTitle name={title}>
            {hook && <Label isCompact>{t('hook')}</Label>}
            {hidden && <Label isCompact>{t('hidden')}</Label>}
            {verdict && (
              <Label isCompact variant="outline" {...looks[verdict.verdict]}>
                {t(`verdicts.${verdict.verdict}`)}
              </Label>
            )}
          </FoldTitle>
        }
      >
        {expanded && notices}
        {expanded && verdict && verdict.changes.length > 0 && <FieldChanges as="preview" label={t('changesOf', { title })} changes={verdict.changes} />}
        {expanded && (hidden ? <Content component="small">{t('hiddenHelp', { source })}</Content> : <YamlEditor label={title} value={text} height="auto" />)}
      </ExpandableSection>
      {!expanded && notices}
    </>
  );
}
