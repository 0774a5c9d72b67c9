import { ActionGroup, Breadcrumb, BreadcrumbItem, Button, Form, FormGroup, FormHelperText, Grid, GridItem, HelperText, HelperTextItem, PageSection, Stack, StackItem, TextInput, Title } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { useChart, type ChartRef } from '../../api/charts';
import { install, useSubmit, type Options } from '../../api/operations';
import { usePreview } from '../../api/preview';
import { useClusters } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { paths } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { YamlEditor } from '../../editor';
import { OptionsForm } from '../../options/OptionsForm';
import { PreviewSection } from '../../preview/PreviewSection';
import { ChartChoice } from './ChartChoice';
import { ChartReference } from './ChartReference';

/** The names that Helm and Kubernetes accept. */
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const NAME_LENGTH = 53;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The install form. After submitting, it opens the events page. */
export function InstallPage() {
  const { t } = useTranslation(['install', 'common', 'preview']);
  const params = useParams();
  const cluster = params['cluster'] ?? '';
  const [chart, setChart] = useState<ChartRef | null>(null);
  const [name, setName] = useState('');
  const [namespace, setNamespace] = useState(params['namespace'] ?? '');
  // The charts are those for the namespace that was entered last, not for every letter of it.
  const [scope, setScope] = useState({ cluster, namespace });
  const [values, setValues] = useState('');
  const [options, setOptions] = useState<Options>({ wait: true, createNamespace: true });
  const request = { name, chart: chart ?? { ref: '' }, valuesYAML: values || undefined, options };
  const submit = useSubmit((body: typeof request) => install(cluster, namespace, body));
  const preview = usePreview((body: typeof request) => install(cluster, namespace, { ...body, options: { ...options, dryRun: 'server' } }));
  const about = useChart(chart, scope).data;
  const helmVersion = useClusters().data?.find(({ id }) => id === cluster)?.helmVersion;
  const wrongName = name !== '' && (!NAME.test(name) || name.length > NAME_LENGTH);
  const wrongNamespace = namespace !== '' && !NAMESPACE.test(namespace);
  const complete = chart !== null && name !== '' && !wrongName && namespace !== '' && !wrongNamespace;
  const takeNamespace = () => {
    if (namespace === scope.namespace) {
      return;
    }
    setScope({ cluster, namespace: wrongNamespace ? '' : namespace });
    if (chart?.ref.startsWith('upload:')) {
      setChart(null);
    }
  };
  return (
    <>
      <title>{`${t('title')} – helmtrail`}</title>
      <PageSection>
        <Stack hasGutter>
          <StackItem>
            <Breadcrumb>
              <BreadcrumbItem>
                <Link to={paths.releases()}>{t('common:releases')}</Link>
              </BreadcrumbItem>
              <BreadcrumbItem>
                <Link to={paths.releases(cluster)}>{cluster}</Link>
              </BreadcrumbItem>
              <BreadcrumbItem isActive>{t('title')}</BreadcrumbItem>
            </Breadcrumb>
          </StackItem>
          <StackItem>
            <Title headingLevel="h1">{t('title')}</Title>
          </StackItem>
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={t('title')}>
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            if (complete) {
              submit.mutate(request);
            }
          }}
        >
          <Grid hasGutter>
            <GridItem lg={6}>
              <Stack hasGutter>
                <FormGroup label={t('namespace')} isRequired fieldId="release-namespace">
                  <TextInput
                    id="release-namespace"
                    isRequired
                    value={namespace}
                    validated={wrongNamespace ? 'error' : 'default'}
                    onChange={(_, text) => {
                      setNamespace(text.trim());
                    }}
                    onBlur={takeNamespace}
                  />
                  {wrongNamespace && (
                    <FormHelperText>
                      <HelperText>
                        <HelperTextItem variant="error">{t('namespaceHelp')}</HelperTextItem>
                      </HelperText>
                    </FormHelperText>
                  )}
                </FormGroup>
                <ChartChoice
                  scope={scope}
                  value={chart}
                  onChange={(chosen, item) => {
                    setChart(chosen);
                    if (item && name === '') {
                      setName(item.name);
                    }
                  }}
                />
                <FormGroup label={t('name')} isRequired fieldId="release-name">
                  <TextInput
                    id="release-name"
                    isRequired
                    value={name}
                    validated={wrongName ? 'error' : 'default'}
                    onChange={(_, text) => {
                      setName(text);
                    }}
                  />
                  {wrongName && (
                    <FormHelperText>
                      <HelperText>
                        <HelperTextItem variant="error">{t('nameHelp')}</HelperTextItem>
                      </HelperText>
                    </FormHelperText>
                  )}
                </FormGroup>
                <OptionsForm operation="install" helmVersion={helmVersion} value={options} onChange={setOptions} />
              </Stack>
            </GridItem>
            <GridItem lg={6}>
              <Stack hasGutter>
                <FormGroup label={t('values')}>
                  <YamlEditor label={t('values')} value={values} onChange={setValues} height="20rem" chart={about} />
                </FormGroup>
                <FormGroup label={t('reference.label')}>
                  <ChartReference chart={chart} scope={scope} />
                </FormGroup>
              </Stack>
            </GridItem>
          </Grid>
          {submit.error && <Refusal error={submit.error} release={{ cluster, namespace, name }} />}
          <ActionGroup>
            <Button type="submit" variant="primary" isDisabled={!complete || submit.isPending} isLoading={submit.isPending}>
              {t('submit')}
            </Button>
            <Button
              variant="secondary"
              isDisabled={!complete || preview.isPending}
              onClick={() => {
                preview.mutate(request);
              }}
            >
              {t('preview:button')}
            </Button>
            <ButtonLink variant="link" to={paths.releases(cluster)}>
              {t('common:cancel')}
            </ButtonLink>
          </ActionGroup>
          <PreviewSection
            release={{ cluster, namespace, name }}
            run={preview}
            stale={JSON.stringify(preview.variables) !== JSON.stringify(request) || preview.data?.release.namespace !== namespace}
          />
        </Form>
      </PageSection>
    </>
  );
}
