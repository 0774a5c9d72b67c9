import { Alert, Button, FileUpload, Flex, FormGroup, FormHelperText, FormSelect, FormSelectOption, HelperText, HelperTextItem, Radio, TextInput } from '@patternfly/react-core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { uploadChart, useCharts, type ChartItem, type ChartRef, type ChartScope } from '../../api/charts';
import { ApiError } from '../../api/client';
import { Refusal } from '../../app/Refusal';

interface ChartChoiceProps {
  /** Where the chart is to be installed. */
  scope: ChartScope;
  value: ChartRef | null;
  onChange: (chart: ChartRef | null, item?: ChartItem) => void;
}

const SOURCES = ['catalog', 'url', 'upload'] as const;
type Source = (typeof SOURCES)[number];

/** Selects a chart from the catalog, by its URL, or by uploading an archive. */
export function ChartChoice({ scope, value, onChange }: ChartChoiceProps) {
  const { t } = useTranslation('install');
  const [source, setSource] = useState<Source>('catalog');
  return (
    <>
      <FormGroup role="radiogroup" label={t('chart.source')} isInline fieldId="chart-source">
        {SOURCES.map((each) => (
          <Radio
            key={each}
            id={`chart-source-${each}`}
            name="chart-source"
            label={t(`chart.sources.${each}`)}
            isChecked={source === each}
            onChange={() => {
              setSource(each);
              onChange(null);
            }}
          />
        ))}
      </FormGroup>
      {source === 'catalog' && <FromCatalog scope={scope} value={value} onChange={onChange} />}
      {source === 'url' && <FromURL onChange={onChange} />}
      {source === 'upload' && <FromUpload key={scope.namespace} scope={scope} onChange={onChange} />}
    </>
  );
}

const itemKey = ({ repo, ref }: ChartItem) => `${repo ?? ''} ${ref}`;

function FromCatalog({ scope, value, onChange }: ChartChoiceProps) {
  const { t } = useTranslation('install');
  const { data, error } = useCharts(scope);
  const items = data?.items ?? [];
  const item = items.find(({ ref, repo }) => ref === value?.ref && repo === value.repo);
  return (
    <>
      {error instanceof ApiError && <Refusal error={error} />}
      {data?.problems.map(({ where, message }) => (
        <Alert key={where} isInline variant="warning" title={t('chart.missing', { where })}>
          {message}
        </Alert>
      ))}
      <FormGroup label={t('chart.name')} isRequired fieldId="chart-name">
        <FormSelect
          id="chart-name"
          value={item ? itemKey(item) : ''}
          onChange={(_, key) => {
            const chosen = items.find((each) => itemKey(each) === key);
            onChange(chosen ? asRef(chosen, chosen.versions[0]?.version) : null, chosen);
          }}
        >
          <FormSelectOption value="" label={data && items.length === 0 ? t('chart.none') : t('chart.choose')} isPlaceholder />
          {items.map((each) => (
            <FormSelectOption key={itemKey(each)} value={itemKey(each)} label={each.repo ? `${each.repo}/${each.name}` : each.name} />
          ))}
        </FormSelect>
      </FormGroup>
      {item && (
        <FormGroup label={t('chart.version')} fieldId="chart-version">
          <FormSelect
            id="chart-version"
            value={value?.version ?? ''}
            onChange={(_, version) => {
              onChange(asRef(item, version), item);
            }}
          >
            {item.versions.map(({ version, appVersion, deprecated }) => (
              <FormSelectOption
                key={version}
                value={version}
                label={[version, appVersion && `(${appVersion})`, deprecated && t('chart.deprecated')].filter(Boolean).join(' ')}
              />
            ))}
          </FormSelect>
        </FormGroup>
      )}
    </>
  );
}

/** A chart of the chart directory or an uploaded chart has a single version, so none is sent. */
function asRef({ ref, repo, source }: ChartItem, version: string | undefined): ChartRef {
  return source === 'repository' ? { ref, repo, version } : { ref, repo };
}

function FromURL({ onChange }: Pick<ChartChoiceProps, 'onChange'>) {
  const { t } = useTranslation('install');
  const [ref, setRef] = useState('');
  const [version, setVersion] = useState('');
  const [secret, setSecret] = useState('');
  const take = () => {
    onChange(ref ? { ref, version: version || undefined, credentialsSecret: secret || undefined } : null);
  };
  return (
    <>
      <FormGroup label={t('chart.url')} isRequired fieldId="chart-url">
        <TextInput
          id="chart-url"
          value={ref}
          placeholder="oci://registry.example/charts/web"
          onChange={(_, text) => {
            setRef(text.trim());
          }}
          onBlur={take}
        />
      </FormGroup>
      <FormGroup label={t('chart.credentials')} fieldId="chart-url-credentials">
        <TextInput
          id="chart-url-credentials"
          value={secret}
          onChange={(_, text) => {
            setSecret(text.trim());
          }}
          onBlur={take}
        />
        <FormHelperText>
          <HelperText>
            <HelperTextItem>{t('chart.credentialsHelp')}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      </FormGroup>
      <FormGroup label={t('chart.version')} fieldId="chart-url-version">
        <Flex flexWrap={{ default: 'nowrap' }}>
          <TextInput
            id="chart-url-version"
            value={version}
            placeholder={t('chart.latest')}
            onChange={(_, text) => {
              setVersion(text.trim());
            }}
            onBlur={take}
          />
          <Button variant="secondary" onClick={take} isDisabled={!ref}>
            {t('chart.load')}
          </Button>
        </Flex>
      </FormGroup>
    </>
  );
}

function FromUpload({ scope, onChange }: Pick<ChartChoiceProps, 'scope' | 'onChange'>) {
  const { t } = useTranslation('install');
  const queries = useQueryClient();
  const upload = useMutation<ChartItem, ApiError, File>({
    mutationFn: (file) => uploadChart(file, scope),
    onSuccess: async (item) => {
      onChange(asRef(item, undefined), item);
      await queries.invalidateQueries({ queryKey: ['charts'] });
    },
  });
  return (
    <FormGroup label={t('chart.archive')} isRequired fieldId="chart-archive">
      <FileUpload
        id="chart-archive"
        hideDefaultPreview
        filename={upload.variables?.name ?? ''}
        filenamePlaceholder={t('chart.archiveHelp')}
        filenameAriaLabel={t('chart.archive')}
        browseButtonText={t('chart.browse')}
        clearButtonText={t('chart.clear')}
        isDisabled={scope.namespace === ''}
        isLoading={upload.isPending}
        isClearButtonDisabled={!upload.isSuccess}
        dropzoneProps={{ disabled: scope.namespace === '', accept: { 'application/gzip': ['.tgz', '.gz'] } }}
        onFileInputChange={(_, file) => {
          upload.mutate(file);
        }}
        onClearClick={() => {
          upload.reset();
          onChange(null);
        }}
      />
      <FormHelperText>
        <HelperText>
          <HelperTextItem>{scope.namespace === '' ? t('chart.namespaceFirst') : t('chart.uploadHelp', { namespace: scope.namespace })}</HelperTextItem>
        </HelperText>
      </FormHelperText>
      {upload.error && <Refusal error={upload.error} />}
    </FormGroup>
  );
}
