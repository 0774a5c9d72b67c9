import { ActionGroup, Alert, Button, Form, FormGroup, Grid, GridItem, Skeleton, Stack } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useChart, useCharts, type ChartRef } from '../../api/charts';
import { upgrade, useSubmit, type Options } from '../../api/operations';
import { usePreview } from '../../api/preview';
import { useHistory, usePart } from '../../api/release';
import type { Release } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { ErrorWords } from '../../app/ErrorWords';
import { paths } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { YamlEditor } from '../../editor';
import { OptionsForm } from '../../options/OptionsForm';
import { ChartChoice } from '../install/ChartChoice';
import { PreviewSection } from '../../preview/PreviewSection';
import { ChartReference } from '../install/ChartReference';
import { PreviewDifference } from './PreviewDifference';
import { ValuesDifference } from './ValuesDifference';

interface UpgradeFormProps {
  release: Release;
  helmVersion?: string;
}

/** The upgrade form, starting from the values of the deployed revision or, without one, of the newest. */
export function UpgradeForm({ release, helmVersion }: UpgradeFormProps) {
  const [newest] = useState(release.revision);
  const history = useHistory(release, newest);
  if (history.isPending) {
    return <Skeleton height="24rem" />;
  }
  const revision = history.data?.find(({ live }) => live)?.revision ?? newest;
  return <FormFrom key={revision} release={release} helmVersion={helmVersion} newest={newest} revision={revision} />;
}

interface FormFromProps extends UpgradeFormProps {
  /** The newest revision at the time when the form was opened. */
  newest: number;
  /** The revision whose values it starts from. */
  revision: number;
}

function FormFrom({ release, helmVersion, newest, revision }: FormFromProps) {
  const { t } = useTranslation(['change', 'common', 'preview']);
  const current = usePart(release, revision, 'values');
  const charts = useCharts(release);
  // Records do not name the source of a chart. The chart of the same name in the catalog is a good guess.
  const guess = charts.data?.items.find(({ name }) => name === release.chart);
  const [chosen, setChosen] = useState<ChartRef | null>();
  const chart = chosen === undefined && guess ? refOf(guess) : (chosen ?? null);
  const [edited, setEdited] = useState<string | null>(null);
  const [options, setOptions] = useState<Options>({ wait: true });
  const values = edited ?? current.data ?? '';
  const request = { chart: chart ?? { ref: '' }, valuesYAML: values, options };
  const submit = useSubmit((body: typeof request) => upgrade(release, body));
  const preview = usePreview((body: typeof request) => upgrade(release, { ...body, options: { ...options, dryRun: 'server' } }));
  const about = useChart(chart, release).data;
  if (current.isPending || charts.isPending) {
    return <Skeleton height="24rem" />;
  }
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (chart) {
          submit.mutate(request);
        }
      }}
    >
      {current.error instanceof ApiError && (
        <Alert isInline variant="warning" title={t('noValues', { revision })}>
          <ErrorWords error={current.error} />
        </Alert>
      )}
      {release.revision !== newest && <Alert isInline variant="warning" title={t('changed', { revision: release.revision })} />}
      <Grid hasGutter>
        <GridItem lg={6}>
          <Stack hasGutter>
            <ChartChoice scope={release} value={chart} onChange={setChosen} />
            <OptionsForm operation="upgrade" helmVersion={helmVersion} value={options} onChange={setOptions} />
          </Stack>
        </GridItem>
        <GridItem lg={6}>
          <Stack hasGutter>
            <FormGroup label={t('values', { revision })}>
              <YamlEditor label={t('values', { revision })} value={values} onChange={setEdited} height="20rem" chart={about} />
            </FormGroup>
            <FormGroup label={t('difference.label')} role="group" fieldId="values-difference">
              <ValuesDifference values={values} before={{ revision, values: current.data ?? '' }} defaults={about?.values} />
            </FormGroup>
            <FormGroup label={t('reference')}>
              <ChartReference chart={chart} scope={release} />
            </FormGroup>
          </Stack>
        </GridItem>
      </Grid>
      {submit.error && <Refusal error={submit.error} release={release} />}
      <ActionGroup>
        <Button type="submit" variant="primary" isDisabled={!chart || submit.isPending} isLoading={submit.isPending}>
          {t('upgrade')}
        </Button>
        <Button
          variant="secondary"
          isDisabled={!chart || preview.isPending}
          onClick={() => {
            preview.mutate(request);
          }}
        >
          {t('preview:button')}
        </Button>
        <ButtonLink variant="link" to={paths.release(release)}>
          {t('common:cancel')}
        </ButtonLink>
      </ActionGroup>
      <PreviewSection release={release} run={preview} stale={JSON.stringify(preview.variables) !== JSON.stringify(request)}>
        {({ session }) => <PreviewDifference release={release} revision={revision} session={session.id} />}
      </PreviewSection>
    </Form>
  );
}

function refOf({ ref, repo, source, versions }: { ref: string; repo?: string; source: string; versions: { version: string }[] }): ChartRef {
  return source === 'repository' ? { ref, repo, version: versions[0]?.version } : { ref, repo };
}
